; ModuleID = '-'
source_filename = "-"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; Function Attrs: nounwind uwtable
define void @msl_entry(ptr nocapture noundef readonly %0, i32 noundef %1, i32 noundef %2, i32 noundef %3, i32 noundef %4, i32 noundef %5) local_unnamed_addr #0 {
  %7 = getelementptr inbounds i8, ptr %0, i64 24
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds i8, ptr %0, i64 32
  %10 = load ptr, ptr %9, align 8
  %11 = getelementptr inbounds i8, ptr %0, i64 48
  %12 = load ptr, ptr %11, align 8
  %13 = load i64, ptr %12, align 1
  %14 = getelementptr inbounds i8, ptr %0, i64 512
  %15 = load i32, ptr %14, align 8
  %16 = shl i32 %15, 3
  %17 = shl i32 %2, 2
  %18 = add i32 %16, %17
  %19 = trunc i64 %13 to i32
  %20 = icmp ult i32 %18, %19
  br i1 %20, label %21, label %137

21:                                               ; preds = %6
  %22 = getelementptr inbounds i8, ptr %0, i64 40
  %23 = load ptr, ptr %22, align 8
  %24 = load i64, ptr %23, align 1
  %25 = getelementptr inbounds i8, ptr %0, i64 16
  %26 = load ptr, ptr %25, align 8
  %27 = lshr i64 %24, 5
  %28 = and i64 %27, 134217727
  %29 = mul nuw nsw i64 %28, 34
  %30 = add i32 %19, -1
  %31 = zext i32 %18 to i64
  %32 = mul i64 %29, %31
  %33 = getelementptr inbounds i8, ptr %26, i64 %32
  %34 = or disjoint i32 %18, 1
  %35 = tail call noundef i32 @llvm.umin.i32(i32 %30, i32 %34)
  %36 = zext i32 %35 to i64
  %37 = mul i64 %29, %36
  %38 = getelementptr inbounds i8, ptr %26, i64 %37
  %39 = or disjoint i32 %18, 2
  %40 = tail call noundef i32 @llvm.umin.i32(i32 %30, i32 %39)
  %41 = zext i32 %40 to i64
  %42 = mul i64 %29, %41
  %43 = getelementptr inbounds i8, ptr %26, i64 %42
  %44 = or disjoint i32 %18, 3
  %45 = tail call noundef i32 @llvm.umin.i32(i32 %30, i32 %44)
  %46 = zext i32 %45 to i64
  %47 = mul i64 %29, %46
  %48 = getelementptr inbounds i8, ptr %26, i64 %47
  %49 = and i64 %24, 4294967264
  %50 = icmp eq i64 %49, 0
  br i1 %50, label %107, label %51

51:                                               ; preds = %21
  %52 = mul nuw nsw i64 %28, 544
  %53 = add i32 %1, 2
  %54 = zext i32 %53 to i64
  br label %55

55:                                               ; preds = %55, %51
  %56 = phi nsz float [ 0.000000e+00, %51 ], [ %83, %55 ]
  %57 = phi nsz float [ 0.000000e+00, %51 ], [ %90, %55 ]
  %58 = phi nsz float [ 0.000000e+00, %51 ], [ %97, %55 ]
  %59 = phi nsz float [ 0.000000e+00, %51 ], [ %104, %55 ]
  %60 = phi i64 [ 0, %51 ], [ %105, %55 ]
  %61 = mul i64 %60, 34
  %62 = and i64 %61, 4294967294
  %63 = getelementptr inbounds i8, ptr %33, i64 %62
  %64 = getelementptr inbounds i8, ptr %63, i64 %52
  tail call void @llvm.prefetch.p0(ptr nonnull readonly %64, i32 0, i32 3, i32 1)
  %65 = getelementptr inbounds i8, ptr %38, i64 %62
  %66 = getelementptr inbounds i8, ptr %65, i64 %52
  tail call void @llvm.prefetch.p0(ptr nonnull readonly %66, i32 0, i32 3, i32 1)
  %67 = getelementptr inbounds i8, ptr %43, i64 %62
  %68 = getelementptr inbounds i8, ptr %67, i64 %52
  tail call void @llvm.prefetch.p0(ptr nonnull readonly %68, i32 0, i32 3, i32 1)
  %69 = getelementptr inbounds i8, ptr %48, i64 %62
  %70 = getelementptr inbounds i8, ptr %69, i64 %52
  tail call void @llvm.prefetch.p0(ptr nonnull readonly %70, i32 0, i32 3, i32 1)
  %71 = trunc i64 %60 to i32
  %72 = shl i32 %71, 5
  %73 = add i32 %72, %1
  %74 = zext i32 %73 to i64
  %75 = getelementptr inbounds float, ptr %8, i64 %74
  %76 = load float, ptr %75, align 4
  %77 = load half, ptr %63, align 2
  %78 = fpext half %77 to float
  %79 = getelementptr inbounds i8, ptr %63, i64 %54
  %80 = load i8, ptr %79, align 1
  %81 = sitofp i8 %80 to float
  %82 = fmul nsz arcp contract float %78, %81
  %83 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %82, float %76, float %56)
  %84 = load half, ptr %65, align 2
  %85 = fpext half %84 to float
  %86 = getelementptr inbounds i8, ptr %65, i64 %54
  %87 = load i8, ptr %86, align 1
  %88 = sitofp i8 %87 to float
  %89 = fmul nsz arcp contract float %85, %88
  %90 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %89, float %76, float %57)
  %91 = load half, ptr %67, align 2
  %92 = fpext half %91 to float
  %93 = getelementptr inbounds i8, ptr %67, i64 %54
  %94 = load i8, ptr %93, align 1
  %95 = sitofp i8 %94 to float
  %96 = fmul nsz arcp contract float %92, %95
  %97 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %96, float %76, float %58)
  %98 = load half, ptr %69, align 2
  %99 = fpext half %98 to float
  %100 = getelementptr inbounds i8, ptr %69, i64 %54
  %101 = load i8, ptr %100, align 1
  %102 = sitofp i8 %101 to float
  %103 = fmul nsz arcp contract float %99, %102
  %104 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %103, float %76, float %59)
  %105 = add nuw nsw i64 %60, 1
  %106 = icmp eq i64 %105, %28
  br i1 %106, label %107, label %55

107:                                              ; preds = %55, %21
  %108 = phi nsz float [ 0.000000e+00, %21 ], [ %83, %55 ]
  %109 = phi nsz float [ 0.000000e+00, %21 ], [ %90, %55 ]
  %110 = phi nsz float [ 0.000000e+00, %21 ], [ %97, %55 ]
  %111 = phi nsz float [ 0.000000e+00, %21 ], [ %104, %55 ]
  %112 = icmp eq i32 %1, 0
  %113 = tail call nsz arcp contract noundef float @msl_sy_fadd(float noundef %108) #5
  br i1 %112, label %114, label %116

114:                                              ; preds = %107
  %115 = getelementptr inbounds float, ptr %10, i64 %31
  store float %113, ptr %115, align 4
  br label %116

116:                                              ; preds = %114, %107
  %117 = tail call nsz arcp contract noundef float @msl_sy_fadd(float noundef %109) #5
  %118 = icmp ult i32 %34, %19
  %119 = and i1 %112, %118
  br i1 %119, label %120, label %123

120:                                              ; preds = %116
  %121 = zext i32 %34 to i64
  %122 = getelementptr inbounds float, ptr %10, i64 %121
  store float %117, ptr %122, align 4
  br label %123

123:                                              ; preds = %120, %116
  %124 = tail call nsz arcp contract noundef float @msl_sy_fadd(float noundef %110) #5
  %125 = icmp ult i32 %39, %19
  %126 = and i1 %112, %125
  br i1 %126, label %127, label %130

127:                                              ; preds = %123
  %128 = zext i32 %39 to i64
  %129 = getelementptr inbounds float, ptr %10, i64 %128
  store float %124, ptr %129, align 4
  br label %130

130:                                              ; preds = %127, %123
  %131 = tail call nsz arcp contract noundef float @msl_sy_fadd(float noundef %111) #5
  %132 = icmp ult i32 %44, %19
  %133 = and i1 %112, %132
  br i1 %133, label %134, label %137

134:                                              ; preds = %130
  %135 = zext i32 %44 to i64
  %136 = getelementptr inbounds float, ptr %10, i64 %135
  store float %131, ptr %136, align 4
  br label %137

137:                                              ; preds = %6, %130, %134
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite, inaccessiblemem: readwrite)
declare void @llvm.prefetch.p0(ptr nocapture readonly, i32 immarg, i32 immarg, i32 immarg) #1

; Function Attrs: convergent nounwind
declare float @msl_sy_fadd(float noundef) local_unnamed_addr #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fma.f32(float, float, float) #3

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.umin.i32(i32, i32) #4

attributes #0 = { nounwind uwtable "min-legal-vector-width"="0" "no-signed-zeros-fp-math"="true" "no-trapping-math"="true" "reciprocal-estimates"="none" "stack-protector-buffer-size"="8" "target-cpu"="x86-64-v3" "target-features"="+avx,+avx2,+bmi,+bmi2,+cmov,+crc32,+cx16,+cx8,+f16c,+fma,+fxsr,+lzcnt,+mmx,+movbe,+popcnt,+sahf,+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3,+x87,+xsave" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite, inaccessiblemem: readwrite) }
attributes #2 = { convergent nounwind "no-signed-zeros-fp-math"="true" "no-trapping-math"="true" "reciprocal-estimates"="none" "stack-protector-buffer-size"="8" "target-cpu"="x86-64-v3" "target-features"="+avx,+avx2,+bmi,+bmi2,+cmov,+crc32,+cx16,+cx8,+f16c,+fma,+fxsr,+lzcnt,+mmx,+movbe,+popcnt,+sahf,+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3,+x87,+xsave" }
attributes #3 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #4 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #5 = { convergent nomerge nounwind }

!llvm.module.flags = !{!0, !1, !2}
!llvm.ident = !{!3, !3}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = !{i32 7, !"uwtable", i32 2}
!3 = !{!"Debian clang version 19.1.7 (3~deb12u1)"}
