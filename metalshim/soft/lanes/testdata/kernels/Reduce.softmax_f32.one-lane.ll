; ModuleID = '-'
source_filename = "-"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%"struct.metal::msl_threadgroup_memory" = type { [128 x i8] }

@_ZZL11softmax_f32RKjPKfPfjjjjjjE12msl_s_maxima = internal thread_local unnamed_addr global %"struct.metal::msl_threadgroup_memory" zeroinitializer, align 16
@_ZZL11softmax_f32RKjPKfPfjjjjjjE10msl_s_sums = internal thread_local unnamed_addr global %"struct.metal::msl_threadgroup_memory" zeroinitializer, align 16

; Function Attrs: nounwind uwtable
define void @msl_entry(ptr nocapture noundef readonly %0, i32 noundef %1, i32 noundef %2, i32 noundef %3, i32 noundef %4, i32 noundef %5) local_unnamed_addr #0 {
  %7 = getelementptr inbounds i8, ptr %0, i64 24
  %8 = load ptr, ptr %7, align 8
  %9 = load i32, ptr %8, align 1
  %10 = getelementptr inbounds i8, ptr %0, i64 32
  %11 = load ptr, ptr %10, align 8
  %12 = getelementptr inbounds i8, ptr %0, i64 40
  %13 = load ptr, ptr %12, align 8
  %14 = getelementptr inbounds i8, ptr %0, i64 512
  %15 = load i32, ptr %14, align 8
  %16 = getelementptr inbounds i8, ptr %0, i64 524
  %17 = load i32, ptr %16, align 4
  %18 = getelementptr inbounds i8, ptr %0, i64 572
  %19 = load i32, ptr %18, align 4
  %20 = tail call align 16 ptr @llvm.threadlocal.address.p0(ptr align 16 @_ZZL11softmax_f32RKjPKfPfjjjjjjE12msl_s_maxima)
  %21 = tail call align 16 ptr @llvm.threadlocal.address.p0(ptr align 16 @_ZZL11softmax_f32RKjPKfPfjjjjjjE10msl_s_sums)
  %22 = zext i32 %15 to i64
  %23 = zext i32 %9 to i64
  %24 = mul nuw i64 %22, %23
  %25 = getelementptr inbounds float, ptr %11, i64 %24
  %26 = getelementptr inbounds float, ptr %13, i64 %24
  %27 = icmp ugt i32 %9, %3
  br i1 %27, label %31, label %28

28:                                               ; preds = %31, %6
  %29 = phi float [ 0xC7EFFFFFE0000000, %6 ], [ %40, %31 ]
  %30 = tail call nsz arcp contract noundef float @msl_sy_fmax(float noundef %29) #3
  br i1 %27, label %47, label %43

31:                                               ; preds = %6, %31
  %32 = phi float [ %40, %31 ], [ 0xC7EFFFFFE0000000, %6 ]
  %33 = phi i32 [ %41, %31 ], [ %3, %6 ]
  %34 = zext i32 %33 to i64
  %35 = getelementptr inbounds float, ptr %25, i64 %34
  %36 = load float, ptr %35, align 4
  %37 = fcmp nsz arcp contract olt float %32, %36
  %38 = fcmp nsz arcp contract uno float %32, 0.000000e+00
  %39 = or i1 %38, %37
  %40 = select nsz arcp contract i1 %39, float %36, float %32
  %41 = add i32 %33, %17
  %42 = icmp ult i32 %41, %9
  br i1 %42, label %31, label %28

43:                                               ; preds = %47, %28
  %44 = phi float [ 0.000000e+00, %28 ], [ %87, %47 ]
  %45 = tail call nsz arcp contract noundef float @msl_sy_fadd(float noundef %44) #3
  %46 = icmp eq i32 %1, 0
  br i1 %46, label %90, label %94

47:                                               ; preds = %28, %47
  %48 = phi float [ %87, %47 ], [ 0.000000e+00, %28 ]
  %49 = phi i32 [ %88, %47 ], [ %3, %28 ]
  %50 = zext i32 %49 to i64
  %51 = getelementptr inbounds float, ptr %25, i64 %50
  %52 = load float, ptr %51, align 4
  %53 = fsub nsz arcp contract float %52, %30
  %54 = fcmp nsz arcp olt float %53, 0xC055D999A0000000
  %55 = select nsz arcp contract i1 %54, float 0xC055D999A0000000, float %53
  %56 = fcmp nsz arcp ogt float %55, 0x4056333340000000
  %57 = select nsz arcp contract i1 %56, float 0x4056333340000000, float %55
  %58 = fmul nsz arcp float %57, 0x3FF7154760000000
  %59 = tail call nsz arcp float @llvm.rint.f32(float %58)
  %60 = tail call nsz arcp float @llvm.fma.f32(float %59, float 0xBFE6300000000000, float %57)
  %61 = tail call nsz arcp float @llvm.fma.f32(float %59, float 0x3F2BD01060000000, float %60)
  %62 = tail call nsz arcp float @llvm.fma.f32(float %61, float 0x3F2A0D2CE0000000, float 0x3F56E879C0000000)
  %63 = tail call nsz arcp float @llvm.fma.f32(float %62, float %61, float 0x3F81112100000000)
  %64 = tail call nsz arcp float @llvm.fma.f32(float %63, float %61, float 0x3FA5553820000000)
  %65 = tail call nsz arcp float @llvm.fma.f32(float %64, float %61, float 0x3FC5555540000000)
  %66 = tail call nsz arcp float @llvm.fma.f32(float %65, float %61, float 5.000000e-01)
  %67 = fmul nsz arcp float %61, %61
  %68 = tail call nsz arcp float @llvm.fma.f32(float %66, float %67, float %61)
  %69 = fadd nsz arcp float %68, 1.000000e+00
  %70 = tail call i32 @llvm.fptosi.sat.i32.f32(float %59)
  %71 = ashr i32 %70, 1
  %72 = shl i32 %71, 23
  %73 = add i32 %72, 1065353216
  %74 = bitcast i32 %73 to float
  %75 = fmul nsz arcp float %69, %74
  %76 = sub nsw i32 %70, %71
  %77 = shl i32 %76, 23
  %78 = add i32 %77, 1065353216
  %79 = bitcast i32 %78 to float
  %80 = fmul nsz arcp float %75, %79
  %81 = fcmp nsz arcp olt float %53, 0xC055D589E0000000
  %82 = select nsz arcp contract i1 %81, float 0.000000e+00, float %80
  %83 = fcmp nsz arcp ogt float %53, 0x40562E42E0000000
  %84 = select nsz arcp contract i1 %83, float 0x7FF0000000000000, float %82
  %85 = fcmp nsz arcp uno float %53, 0.000000e+00
  %86 = select nsz arcp i1 %85, float %53, float %84
  %87 = fadd nsz arcp contract float %48, %86
  %88 = add i32 %49, %17
  %89 = icmp ult i32 %88, %9
  br i1 %89, label %47, label %43

90:                                               ; preds = %43
  %91 = zext i32 %2 to i64
  %92 = getelementptr inbounds [32 x float], ptr %20, i64 0, i64 %91
  store float %30, ptr %92, align 4
  %93 = getelementptr inbounds [32 x float], ptr %21, i64 0, i64 %91
  store float %45, ptr %93, align 4
  br label %94

94:                                               ; preds = %90, %43
  tail call void @msl_sy_tgbar() #3
  %95 = icmp ugt i32 %19, %1
  br i1 %95, label %96, label %100

96:                                               ; preds = %94
  %97 = zext i32 %1 to i64
  %98 = getelementptr inbounds [32 x float], ptr %20, i64 0, i64 %97
  %99 = load float, ptr %98, align 4
  br label %100

100:                                              ; preds = %96, %94
  %101 = phi nsz arcp contract float [ %99, %96 ], [ 0xC7EFFFFFE0000000, %94 ]
  %102 = tail call nsz arcp contract noundef float @msl_sy_fmax(float noundef %101) #3
  br i1 %95, label %103, label %142

103:                                              ; preds = %100
  %104 = zext i32 %1 to i64
  %105 = getelementptr inbounds [32 x float], ptr %21, i64 0, i64 %104
  %106 = load float, ptr %105, align 4
  %107 = fsub nsz arcp contract float %101, %102
  %108 = fcmp nsz arcp olt float %107, 0xC055D999A0000000
  %109 = select nsz arcp contract i1 %108, float 0xC055D999A0000000, float %107
  %110 = fcmp nsz arcp ogt float %109, 0x4056333340000000
  %111 = select nsz arcp contract i1 %110, float 0x4056333340000000, float %109
  %112 = fmul nsz arcp float %111, 0x3FF7154760000000
  %113 = tail call nsz arcp float @llvm.rint.f32(float %112)
  %114 = tail call nsz arcp float @llvm.fma.f32(float %113, float 0xBFE6300000000000, float %111)
  %115 = tail call nsz arcp float @llvm.fma.f32(float %113, float 0x3F2BD01060000000, float %114)
  %116 = tail call nsz arcp float @llvm.fma.f32(float %115, float 0x3F2A0D2CE0000000, float 0x3F56E879C0000000)
  %117 = tail call nsz arcp float @llvm.fma.f32(float %116, float %115, float 0x3F81112100000000)
  %118 = tail call nsz arcp float @llvm.fma.f32(float %117, float %115, float 0x3FA5553820000000)
  %119 = tail call nsz arcp float @llvm.fma.f32(float %118, float %115, float 0x3FC5555540000000)
  %120 = tail call nsz arcp float @llvm.fma.f32(float %119, float %115, float 5.000000e-01)
  %121 = fmul nsz arcp float %115, %115
  %122 = tail call nsz arcp float @llvm.fma.f32(float %120, float %121, float %115)
  %123 = fadd nsz arcp float %122, 1.000000e+00
  %124 = tail call i32 @llvm.fptosi.sat.i32.f32(float %113)
  %125 = ashr i32 %124, 1
  %126 = shl i32 %125, 23
  %127 = add i32 %126, 1065353216
  %128 = bitcast i32 %127 to float
  %129 = fmul nsz arcp float %123, %128
  %130 = sub nsw i32 %124, %125
  %131 = shl i32 %130, 23
  %132 = add i32 %131, 1065353216
  %133 = bitcast i32 %132 to float
  %134 = fmul nsz arcp float %129, %133
  %135 = fcmp nsz arcp olt float %107, 0xC055D589E0000000
  %136 = select nsz arcp contract i1 %135, float 0.000000e+00, float %134
  %137 = fcmp nsz arcp ogt float %107, 0x40562E42E0000000
  %138 = select nsz arcp contract i1 %137, float 0x7FF0000000000000, float %136
  %139 = fcmp nsz arcp uno float %107, 0.000000e+00
  %140 = select nsz arcp i1 %139, float %107, float %138
  %141 = fmul nsz arcp contract float %140, %106
  br label %142

142:                                              ; preds = %103, %100
  %143 = phi nsz arcp contract float [ %141, %103 ], [ 0.000000e+00, %100 ]
  %144 = tail call nsz arcp contract noundef float @msl_sy_fadd(float noundef %143) #3
  %145 = fdiv nsz arcp contract float 1.000000e+00, %144
  br i1 %27, label %146, label %189

146:                                              ; preds = %142, %146
  %147 = phi i32 [ %187, %146 ], [ %3, %142 ]
  %148 = zext i32 %147 to i64
  %149 = getelementptr inbounds float, ptr %25, i64 %148
  %150 = load float, ptr %149, align 4
  %151 = fsub nsz arcp contract float %150, %102
  %152 = fcmp nsz arcp olt float %151, 0xC055D999A0000000
  %153 = select nsz arcp contract i1 %152, float 0xC055D999A0000000, float %151
  %154 = fcmp nsz arcp ogt float %153, 0x4056333340000000
  %155 = select nsz arcp contract i1 %154, float 0x4056333340000000, float %153
  %156 = fmul nsz arcp float %155, 0x3FF7154760000000
  %157 = tail call nsz arcp float @llvm.rint.f32(float %156)
  %158 = tail call nsz arcp float @llvm.fma.f32(float %157, float 0xBFE6300000000000, float %155)
  %159 = tail call nsz arcp float @llvm.fma.f32(float %157, float 0x3F2BD01060000000, float %158)
  %160 = tail call nsz arcp float @llvm.fma.f32(float %159, float 0x3F2A0D2CE0000000, float 0x3F56E879C0000000)
  %161 = tail call nsz arcp float @llvm.fma.f32(float %160, float %159, float 0x3F81112100000000)
  %162 = tail call nsz arcp float @llvm.fma.f32(float %161, float %159, float 0x3FA5553820000000)
  %163 = tail call nsz arcp float @llvm.fma.f32(float %162, float %159, float 0x3FC5555540000000)
  %164 = tail call nsz arcp float @llvm.fma.f32(float %163, float %159, float 5.000000e-01)
  %165 = fmul nsz arcp float %159, %159
  %166 = tail call nsz arcp float @llvm.fma.f32(float %164, float %165, float %159)
  %167 = fadd nsz arcp float %166, 1.000000e+00
  %168 = tail call i32 @llvm.fptosi.sat.i32.f32(float %157)
  %169 = ashr i32 %168, 1
  %170 = shl i32 %169, 23
  %171 = add i32 %170, 1065353216
  %172 = bitcast i32 %171 to float
  %173 = fmul nsz arcp float %167, %172
  %174 = sub nsw i32 %168, %169
  %175 = shl i32 %174, 23
  %176 = add i32 %175, 1065353216
  %177 = bitcast i32 %176 to float
  %178 = fmul nsz arcp float %173, %177
  %179 = fcmp nsz arcp olt float %151, 0xC055D589E0000000
  %180 = select nsz arcp contract i1 %179, float 0.000000e+00, float %178
  %181 = fcmp nsz arcp ogt float %151, 0x40562E42E0000000
  %182 = select nsz arcp contract i1 %181, float 0x7FF0000000000000, float %180
  %183 = fcmp nsz arcp uno float %151, 0.000000e+00
  %184 = select nsz arcp i1 %183, float %151, float %182
  %185 = fmul nsz arcp contract float %145, %184
  %186 = getelementptr inbounds float, ptr %26, i64 %148
  store float %185, ptr %186, align 4
  %187 = add i32 %147, %17
  %188 = icmp ult i32 %187, %9
  br i1 %188, label %146, label %189

189:                                              ; preds = %146, %142
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare nonnull ptr @llvm.threadlocal.address.p0(ptr nonnull) #1

; Function Attrs: convergent nounwind
declare void @msl_sy_tgbar() local_unnamed_addr #2

; Function Attrs: convergent nounwind
declare float @msl_sy_fadd(float noundef) local_unnamed_addr #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.rint.f32(float) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fma.f32(float, float, float) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.fptosi.sat.i32.f32(float) #1

; Function Attrs: convergent nounwind
declare float @msl_sy_fmax(float noundef) local_unnamed_addr #2

attributes #0 = { nounwind uwtable "min-legal-vector-width"="0" "no-signed-zeros-fp-math"="true" "no-trapping-math"="true" "reciprocal-estimates"="none" "stack-protector-buffer-size"="8" "target-cpu"="x86-64-v3" "target-features"="+avx,+avx2,+bmi,+bmi2,+cmov,+crc32,+cx16,+cx8,+f16c,+fma,+fxsr,+lzcnt,+mmx,+movbe,+popcnt,+sahf,+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3,+x87,+xsave" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nounwind "no-signed-zeros-fp-math"="true" "no-trapping-math"="true" "reciprocal-estimates"="none" "stack-protector-buffer-size"="8" "target-cpu"="x86-64-v3" "target-features"="+avx,+avx2,+bmi,+bmi2,+cmov,+crc32,+cx16,+cx8,+f16c,+fma,+fxsr,+lzcnt,+mmx,+movbe,+popcnt,+sahf,+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3,+x87,+xsave" }
attributes #3 = { convergent nomerge nounwind }

!llvm.module.flags = !{!0, !1, !2}
!llvm.ident = !{!3, !3}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = !{i32 7, !"uwtable", i32 2}
!3 = !{!"Debian clang version 19.1.7 (3~deb12u1)"}
