; ModuleID = '-'
source_filename = "-"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%"struct.metal::msl_threadgroup_memory.32" = type { [8192 x i8] }
%"struct.metal::msl_threadgroup_memory.20" = type { [128 x i8] }

@msl_fc_20 = hidden local_unnamed_addr constant i8 0, align 1
@msl_fcd_20 = hidden local_unnamed_addr constant i8 1, align 1
@_ZZL11sdpa_vectorILi64EEvPKfS1_S1_PfRKiS4_RKmS6_RS0_S7_Dv3_jjjjE10msl_s_outs = internal thread_local unnamed_addr global %"struct.metal::msl_threadgroup_memory.32" zeroinitializer, align 16
@_ZZL11sdpa_vectorILi64EEvPKfS1_S1_PfRKiS4_RKmS6_RS0_S7_Dv3_jjjjE10msl_s_sums = internal thread_local unnamed_addr global %"struct.metal::msl_threadgroup_memory.20" zeroinitializer, align 16
@_ZZL11sdpa_vectorILi64EEvPKfS1_S1_PfRKiS4_RKmS6_RS0_S7_Dv3_jjjjE12msl_s_maxima = internal thread_local unnamed_addr global %"struct.metal::msl_threadgroup_memory.20" zeroinitializer, align 16

; Function Attrs: nounwind uwtable
define void @msl_entry(ptr nocapture noundef readonly %0, i32 noundef %1, i32 noundef %2, i32 noundef %3, i32 noundef %4, i32 noundef %5) local_unnamed_addr #0 {
  %7 = getelementptr inbounds i8, ptr %0, i64 16
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds i8, ptr %0, i64 24
  %10 = load ptr, ptr %9, align 8
  %11 = getelementptr inbounds i8, ptr %0, i64 32
  %12 = load ptr, ptr %11, align 8
  %13 = getelementptr inbounds i8, ptr %0, i64 40
  %14 = load ptr, ptr %13, align 8
  %15 = getelementptr inbounds i8, ptr %0, i64 48
  %16 = load ptr, ptr %15, align 8
  %17 = load i32, ptr %16, align 1
  %18 = getelementptr inbounds i8, ptr %0, i64 56
  %19 = load ptr, ptr %18, align 8
  %20 = load i32, ptr %19, align 1
  %21 = getelementptr inbounds i8, ptr %0, i64 64
  %22 = load ptr, ptr %21, align 8
  %23 = load i64, ptr %22, align 1
  %24 = getelementptr inbounds i8, ptr %0, i64 72
  %25 = load ptr, ptr %24, align 8
  %26 = load i64, ptr %25, align 1
  %27 = getelementptr inbounds i8, ptr %0, i64 80
  %28 = load ptr, ptr %27, align 8
  %29 = load float, ptr %28, align 1
  %30 = getelementptr inbounds i8, ptr %0, i64 88
  %31 = load ptr, ptr %30, align 8
  %32 = load float, ptr %31, align 1
  %33 = getelementptr inbounds i8, ptr %0, i64 516
  %34 = load i32, ptr %33, align 4
  %35 = getelementptr inbounds i8, ptr %0, i64 572
  %36 = load i32, ptr %35, align 4
  %37 = tail call align 16 ptr @llvm.threadlocal.address.p0(ptr align 16 @_ZZL11sdpa_vectorILi64EEvPKfS1_S1_PfRKiS4_RKmS6_RS0_S7_Dv3_jjjjE10msl_s_outs)
  %38 = tail call align 16 ptr @llvm.threadlocal.address.p0(ptr align 16 @_ZZL11sdpa_vectorILi64EEvPKfS1_S1_PfRKiS4_RKmS6_RS0_S7_Dv3_jjjjE10msl_s_sums)
  %39 = tail call align 16 ptr @llvm.threadlocal.address.p0(ptr align 16 @_ZZL11sdpa_vectorILi64EEvPKfS1_S1_PfRKiS4_RKmS6_RS0_S7_Dv3_jjjjE12msl_s_maxima)
  %40 = udiv i32 %34, %17
  %41 = tail call noundef i32 @llvm.umin.i32(i32 %36, i32 32)
  %42 = add i32 %20, -1
  %43 = add i32 %41, %42
  %44 = udiv i32 %43, %41
  %45 = tail call noundef i32 @llvm.umax.i32(i32 %44, i32 8)
  %46 = tail call noundef i32 @llvm.umin.i32(i32 %45, i32 32)
  %47 = add i32 %46, %42
  %48 = udiv i32 %47, %46
  %49 = tail call noundef i32 @llvm.umin.i32(i32 %41, i32 %48)
  %50 = shl i32 %34, 6
  %51 = zext i32 %50 to i64
  %52 = getelementptr inbounds float, ptr %8, i64 %51
  %53 = zext i32 %40 to i64
  %54 = mul i64 %23, %53
  %55 = getelementptr inbounds float, ptr %10, i64 %54
  %56 = mul i64 %26, %53
  %57 = getelementptr inbounds float, ptr %12, i64 %56
  %58 = icmp ugt i32 %49, %2
  %59 = mul i32 %46, %2
  %60 = select i1 %58, i32 %59, i32 %20
  %61 = mul nuw nsw i32 %49, %46
  %62 = zext i32 %1 to i64
  %63 = getelementptr inbounds float, ptr %52, i64 %62
  %64 = load float, ptr %63, align 4
  %65 = fmul nsz arcp contract float %29, %64
  %66 = add i32 %1, 32
  %67 = zext i32 %66 to i64
  %68 = getelementptr inbounds float, ptr %52, i64 %67
  %69 = load float, ptr %68, align 4
  %70 = fmul nsz arcp contract float %29, %69
  %71 = icmp ult i32 %60, %20
  br i1 %71, label %72, label %269

72:                                               ; preds = %6
  %73 = fcmp nsz arcp contract une float %32, 1.000000e+00
  br label %74

74:                                               ; preds = %241, %72
  %75 = phi nsz <2 x float> [ zeroinitializer, %72 ], [ %266, %241 ]
  %76 = phi nsz <2 x float> [ <float 0.000000e+00, float 0xC7EFFFFFE0000000>, %72 ], [ %243, %241 ]
  %77 = phi i32 [ %60, %72 ], [ %244, %241 ]
  %78 = sub i32 %20, %77
  %79 = tail call noundef i32 @llvm.umin.i32(i32 %78, i32 %46)
  %80 = zext nneg i32 %79 to i64
  br label %84

81:                                               ; preds = %84
  %82 = icmp ugt i32 %79, %1
  %83 = and i1 %73, %82
  br i1 %83, label %103, label %155

84:                                               ; preds = %84, %74
  %85 = phi i64 [ 0, %74 ], [ %101, %84 ]
  %86 = phi float [ 0xFFF0000000000000, %74 ], [ %100, %84 ]
  %87 = trunc nuw i64 %85 to i32
  %88 = add i32 %77, %87
  %89 = zext i32 %88 to i64
  %90 = shl nuw nsw i64 %89, 8
  %91 = getelementptr inbounds i8, ptr %55, i64 %90
  %92 = getelementptr inbounds float, ptr %91, i64 %62
  %93 = load float, ptr %92, align 4
  %94 = fmul nsz arcp contract float %65, %93
  %95 = getelementptr inbounds float, ptr %91, i64 %67
  %96 = load float, ptr %95, align 4
  %97 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %70, float %96, float %94)
  %98 = tail call nsz arcp contract noundef float @msl_sy_fadd(float noundef %97) #4
  %99 = icmp eq i64 %85, %62
  %100 = select nsz arcp contract i1 %99, float %98, float %86
  %101 = add nuw nsw i64 %85, 1
  %102 = icmp ult i64 %101, %80
  br i1 %102, label %84, label %81

103:                                              ; preds = %81
  %104 = tail call nsz arcp contract float @llvm.fabs.f32(float %100)
  %105 = fmul nsz arcp float %100, %100
  %106 = tail call nsz arcp float @llvm.fma.f32(float %105, float 0xBF775E1D40000000, float 0x3F952269C0000000)
  %107 = tail call nsz arcp float @llvm.fma.f32(float %106, float %105, float 0xBFAB83C5A0000000)
  %108 = tail call nsz arcp float @llvm.fma.f32(float %107, float %105, float 0x3FC1107260000000)
  %109 = tail call nsz arcp float @llvm.fma.f32(float %108, float %105, float 0xBFD5555320000000)
  %110 = fmul nsz arcp float %105, %109
  %111 = tail call nsz arcp float @llvm.fma.f32(float %110, float %104, float %104)
  %112 = fmul nsz arcp float %104, 2.000000e+00
  %113 = fcmp nsz arcp olt float %112, 0xC055D999A0000000
  %114 = select nsz arcp contract i1 %113, float 0xC055D999A0000000, float %112
  %115 = fcmp nsz arcp ogt float %114, 0x4056333340000000
  %116 = select nsz arcp contract i1 %115, float 0x4056333340000000, float %114
  %117 = fmul nsz arcp float %116, 0x3FF7154760000000
  %118 = tail call nsz arcp float @llvm.rint.f32(float %117)
  %119 = tail call nsz arcp float @llvm.fma.f32(float %118, float 0xBFE6300000000000, float %116)
  %120 = tail call nsz arcp float @llvm.fma.f32(float %118, float 0x3F2BD01060000000, float %119)
  %121 = tail call nsz arcp float @llvm.fma.f32(float %120, float 0x3F2A0D2CE0000000, float 0x3F56E879C0000000)
  %122 = tail call nsz arcp float @llvm.fma.f32(float %121, float %120, float 0x3F81112100000000)
  %123 = tail call nsz arcp float @llvm.fma.f32(float %122, float %120, float 0x3FA5553820000000)
  %124 = tail call nsz arcp float @llvm.fma.f32(float %123, float %120, float 0x3FC5555540000000)
  %125 = tail call nsz arcp float @llvm.fma.f32(float %124, float %120, float 5.000000e-01)
  %126 = fmul nsz arcp float %120, %120
  %127 = tail call nsz arcp float @llvm.fma.f32(float %125, float %126, float %120)
  %128 = fadd nsz arcp float %127, 1.000000e+00
  %129 = tail call i32 @llvm.fptosi.sat.i32.f32(float %118)
  %130 = ashr i32 %129, 1
  %131 = shl i32 %130, 23
  %132 = add i32 %131, 1065353216
  %133 = bitcast i32 %132 to float
  %134 = fmul nsz arcp float %128, %133
  %135 = sub nsw i32 %129, %130
  %136 = shl i32 %135, 23
  %137 = add i32 %136, 1065353216
  %138 = bitcast i32 %137 to float
  %139 = fmul nsz arcp float %134, %138
  %140 = fcmp nsz arcp olt float %112, 0xC055D589E0000000
  %141 = select nsz arcp contract i1 %140, float 0.000000e+00, float %139
  %142 = fcmp nsz arcp ogt float %112, 0x40562E42E0000000
  %143 = select nsz arcp contract i1 %142, float 0x7FF0000000000000, float %141
  %144 = fcmp nsz arcp uno float %112, 0.000000e+00
  %145 = select nsz arcp i1 %144, float %112, float %143
  %146 = fadd nsz arcp float %145, 1.000000e+00
  %147 = fdiv nsz arcp float 2.000000e+00, %146
  %148 = fsub nsz arcp float 1.000000e+00, %147
  %149 = fcmp nsz arcp olt float %104, 6.250000e-01
  %150 = select nsz arcp i1 %149, float %111, float %148
  %151 = tail call nsz arcp contract float @llvm.copysign.f32(float %150, float %100)
  %152 = fcmp nsz arcp uno float %100, 0.000000e+00
  %153 = select nsz arcp i1 %152, float %100, float %151
  %154 = fmul nsz arcp contract float %32, %153
  br label %155

155:                                              ; preds = %103, %81
  %156 = phi nsz float [ %100, %81 ], [ %154, %103 ]
  %157 = extractelement <2 x float> %76, i64 1
  %158 = tail call nsz arcp contract noundef float @msl_sy_fmax(float noundef %156) #4
  %159 = fcmp nsz arcp contract olt float %157, %158
  %160 = fcmp nsz arcp contract uno float %157, 0.000000e+00
  %161 = or i1 %160, %159
  %162 = select nsz arcp contract i1 %161, float %158, float %157
  %163 = fsub nsz arcp contract float %156, %162
  %164 = fcmp nsz arcp olt float %163, 0xC055D999A0000000
  %165 = select nsz arcp contract i1 %164, float 0xC055D999A0000000, float %163
  %166 = fcmp nsz arcp ogt float %165, 0x4056333340000000
  %167 = select nsz arcp contract i1 %166, float 0x4056333340000000, float %165
  %168 = fmul nsz arcp float %167, 0x3FF7154760000000
  %169 = tail call nsz arcp float @llvm.rint.f32(float %168)
  %170 = tail call nsz arcp float @llvm.fma.f32(float %169, float 0xBFE6300000000000, float %167)
  %171 = tail call nsz arcp float @llvm.fma.f32(float %169, float 0x3F2BD01060000000, float %170)
  %172 = tail call nsz arcp float @llvm.fma.f32(float %171, float 0x3F2A0D2CE0000000, float 0x3F56E879C0000000)
  %173 = tail call nsz arcp float @llvm.fma.f32(float %172, float %171, float 0x3F81112100000000)
  %174 = tail call nsz arcp float @llvm.fma.f32(float %173, float %171, float 0x3FA5553820000000)
  %175 = tail call nsz arcp float @llvm.fma.f32(float %174, float %171, float 0x3FC5555540000000)
  %176 = tail call nsz arcp float @llvm.fma.f32(float %175, float %171, float 5.000000e-01)
  %177 = fmul nsz arcp float %171, %171
  %178 = tail call nsz arcp float @llvm.fma.f32(float %176, float %177, float %171)
  %179 = fadd nsz arcp float %178, 1.000000e+00
  %180 = tail call i32 @llvm.fptosi.sat.i32.f32(float %169)
  %181 = ashr i32 %180, 1
  %182 = shl i32 %181, 23
  %183 = add i32 %182, 1065353216
  %184 = bitcast i32 %183 to float
  %185 = fmul nsz arcp float %179, %184
  %186 = sub nsw i32 %180, %181
  %187 = shl i32 %186, 23
  %188 = add i32 %187, 1065353216
  %189 = bitcast i32 %188 to float
  %190 = fmul nsz arcp float %185, %189
  %191 = fcmp nsz arcp olt float %163, 0xC055D589E0000000
  %192 = select nsz arcp contract i1 %191, float 0.000000e+00, float %190
  %193 = fcmp nsz arcp ogt float %163, 0x40562E42E0000000
  %194 = select nsz arcp contract i1 %193, float 0x7FF0000000000000, float %192
  %195 = fcmp nsz arcp uno float %163, 0.000000e+00
  %196 = select nsz arcp i1 %195, float %163, float %194
  %197 = fsub nsz arcp contract float %157, %162
  %198 = fcmp nsz arcp olt float %197, 0xC055D999A0000000
  %199 = select nsz arcp contract i1 %198, float 0xC055D999A0000000, float %197
  %200 = fcmp nsz arcp ogt float %199, 0x4056333340000000
  %201 = select nsz arcp contract i1 %200, float 0x4056333340000000, float %199
  %202 = fmul nsz arcp float %201, 0x3FF7154760000000
  %203 = tail call nsz arcp float @llvm.rint.f32(float %202)
  %204 = tail call nsz arcp float @llvm.fma.f32(float %203, float 0xBFE6300000000000, float %201)
  %205 = tail call nsz arcp float @llvm.fma.f32(float %203, float 0x3F2BD01060000000, float %204)
  %206 = tail call nsz arcp float @llvm.fma.f32(float %205, float 0x3F2A0D2CE0000000, float 0x3F56E879C0000000)
  %207 = tail call nsz arcp float @llvm.fma.f32(float %206, float %205, float 0x3F81112100000000)
  %208 = tail call nsz arcp float @llvm.fma.f32(float %207, float %205, float 0x3FA5553820000000)
  %209 = tail call nsz arcp float @llvm.fma.f32(float %208, float %205, float 0x3FC5555540000000)
  %210 = tail call nsz arcp float @llvm.fma.f32(float %209, float %205, float 5.000000e-01)
  %211 = fmul nsz arcp float %205, %205
  %212 = tail call nsz arcp float @llvm.fma.f32(float %210, float %211, float %205)
  %213 = fadd nsz arcp float %212, 1.000000e+00
  %214 = tail call i32 @llvm.fptosi.sat.i32.f32(float %203)
  %215 = ashr i32 %214, 1
  %216 = shl i32 %215, 23
  %217 = add i32 %216, 1065353216
  %218 = bitcast i32 %217 to float
  %219 = fmul nsz arcp float %213, %218
  %220 = sub nsw i32 %214, %215
  %221 = shl i32 %220, 23
  %222 = add i32 %221, 1065353216
  %223 = bitcast i32 %222 to float
  %224 = fmul nsz arcp float %219, %223
  %225 = fcmp nsz arcp olt float %197, 0xC055D589E0000000
  %226 = select nsz arcp contract i1 %225, float 0.000000e+00, float %224
  %227 = fcmp nsz arcp ogt float %197, 0x40562E42E0000000
  %228 = select nsz arcp contract i1 %227, float 0x7FF0000000000000, float %226
  %229 = fcmp nsz arcp uno float %197, 0.000000e+00
  %230 = select nsz arcp i1 %229, float %197, float %228
  %231 = extractelement <2 x float> %76, i64 0
  %232 = tail call nsz arcp contract noundef float @msl_sy_fadd(float noundef %196) #4
  %233 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %231, float %230, float %232)
  %234 = extractelement <2 x float> %75, i64 0
  %235 = fmul nsz arcp contract float %234, %230
  %236 = insertelement <2 x float> poison, float %235, i64 0
  %237 = extractelement <2 x float> %75, i64 1
  %238 = fmul nsz arcp contract float %237, %230
  %239 = insertelement <2 x float> %236, float %238, i64 1
  %240 = bitcast float %196 to i32
  br label %246

241:                                              ; preds = %246
  %242 = insertelement <2 x float> poison, float %233, i64 0
  %243 = insertelement <2 x float> %242, float %162, i64 1
  %244 = add i32 %77, %61
  %245 = icmp ult i32 %244, %20
  br i1 %245, label %74, label %269

246:                                              ; preds = %246, %155
  %247 = phi nsz <2 x float> [ %239, %155 ], [ %266, %246 ]
  %248 = phi i64 [ 0, %155 ], [ %267, %246 ]
  %249 = trunc nuw i64 %248 to i32
  %250 = add i32 %77, %249
  %251 = zext i32 %250 to i64
  %252 = shl nuw nsw i64 %251, 8
  %253 = getelementptr inbounds i8, ptr %57, i64 %252
  %254 = and i32 %249, 65535
  %255 = tail call noundef i32 @msl_sy_bc(i32 noundef %240, i32 noundef %254) #4
  %256 = bitcast i32 %255 to float
  %257 = getelementptr inbounds float, ptr %253, i64 %62
  %258 = load float, ptr %257, align 4
  %259 = extractelement <2 x float> %247, i64 0
  %260 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %256, float %258, float %259)
  %261 = insertelement <2 x float> poison, float %260, i64 0
  %262 = getelementptr inbounds float, ptr %253, i64 %67
  %263 = load float, ptr %262, align 4
  %264 = extractelement <2 x float> %247, i64 1
  %265 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %256, float %263, float %264)
  %266 = insertelement <2 x float> %261, float %265, i64 1
  %267 = add nuw nsw i64 %248, 1
  %268 = icmp ult i64 %267, %80
  br i1 %268, label %246, label %241

269:                                              ; preds = %241, %6
  %270 = phi nsz <2 x float> [ zeroinitializer, %6 ], [ %266, %241 ]
  %271 = phi nsz <2 x float> [ <float 0.000000e+00, float 0xC7EFFFFFE0000000>, %6 ], [ %243, %241 ]
  br i1 %58, label %272, label %289

272:                                              ; preds = %269
  %273 = shl nuw nsw i32 %2, 6
  %274 = add i32 %273, %1
  %275 = extractelement <2 x float> %270, i64 0
  %276 = zext i32 %274 to i64
  %277 = getelementptr inbounds float, ptr %37, i64 %276
  store float %275, ptr %277, align 4
  %278 = extractelement <2 x float> %270, i64 1
  %279 = add i32 %274, 32
  %280 = zext i32 %279 to i64
  %281 = getelementptr inbounds float, ptr %37, i64 %280
  store float %278, ptr %281, align 4
  %282 = icmp eq i32 %1, 0
  br i1 %282, label %283, label %289

283:                                              ; preds = %272
  %284 = extractelement <2 x float> %271, i64 0
  %285 = zext nneg i32 %2 to i64
  %286 = getelementptr inbounds float, ptr %38, i64 %285
  store float %284, ptr %286, align 4
  %287 = extractelement <2 x float> %271, i64 1
  %288 = getelementptr inbounds float, ptr %39, i64 %285
  store float %287, ptr %288, align 4
  br label %289

289:                                              ; preds = %283, %272, %269
  tail call void @msl_sy_tgbar() #4
  %290 = icmp eq i32 %2, 0
  br i1 %290, label %291, label %382

291:                                              ; preds = %289
  %292 = icmp ugt i32 %49, %1
  br i1 %292, label %293, label %296

293:                                              ; preds = %291
  %294 = getelementptr inbounds float, ptr %39, i64 %62
  %295 = load float, ptr %294, align 4
  br label %296

296:                                              ; preds = %293, %291
  %297 = phi nsz arcp contract float [ %295, %293 ], [ 0xC7EFFFFFE0000000, %291 ]
  %298 = tail call nsz arcp contract noundef float @msl_sy_fmax(float noundef %297) #4
  br i1 %292, label %299, label %338

299:                                              ; preds = %296
  %300 = fsub nsz arcp contract float %297, %298
  %301 = fcmp nsz arcp olt float %300, 0xC055D999A0000000
  %302 = select nsz arcp contract i1 %301, float 0xC055D999A0000000, float %300
  %303 = fcmp nsz arcp ogt float %302, 0x4056333340000000
  %304 = select nsz arcp contract i1 %303, float 0x4056333340000000, float %302
  %305 = fmul nsz arcp float %304, 0x3FF7154760000000
  %306 = tail call nsz arcp float @llvm.rint.f32(float %305)
  %307 = tail call nsz arcp float @llvm.fma.f32(float %306, float 0xBFE6300000000000, float %304)
  %308 = tail call nsz arcp float @llvm.fma.f32(float %306, float 0x3F2BD01060000000, float %307)
  %309 = tail call nsz arcp float @llvm.fma.f32(float %308, float 0x3F2A0D2CE0000000, float 0x3F56E879C0000000)
  %310 = tail call nsz arcp float @llvm.fma.f32(float %309, float %308, float 0x3F81112100000000)
  %311 = tail call nsz arcp float @llvm.fma.f32(float %310, float %308, float 0x3FA5553820000000)
  %312 = tail call nsz arcp float @llvm.fma.f32(float %311, float %308, float 0x3FC5555540000000)
  %313 = tail call nsz arcp float @llvm.fma.f32(float %312, float %308, float 5.000000e-01)
  %314 = fmul nsz arcp float %308, %308
  %315 = tail call nsz arcp float @llvm.fma.f32(float %313, float %314, float %308)
  %316 = fadd nsz arcp float %315, 1.000000e+00
  %317 = tail call i32 @llvm.fptosi.sat.i32.f32(float %306)
  %318 = ashr i32 %317, 1
  %319 = shl i32 %318, 23
  %320 = add i32 %319, 1065353216
  %321 = bitcast i32 %320 to float
  %322 = fmul nsz arcp float %316, %321
  %323 = sub nsw i32 %317, %318
  %324 = shl i32 %323, 23
  %325 = add i32 %324, 1065353216
  %326 = bitcast i32 %325 to float
  %327 = fmul nsz arcp float %322, %326
  %328 = fcmp nsz arcp olt float %300, 0xC055D589E0000000
  %329 = select nsz arcp contract i1 %328, float 0.000000e+00, float %327
  %330 = fcmp nsz arcp ogt float %300, 0x40562E42E0000000
  %331 = select nsz arcp contract i1 %330, float 0x7FF0000000000000, float %329
  %332 = fcmp nsz arcp uno float %300, 0.000000e+00
  %333 = select nsz arcp i1 %332, float %300, float %331
  %334 = getelementptr inbounds float, ptr %38, i64 %62
  %335 = load float, ptr %334, align 4
  %336 = fmul nsz arcp contract float %333, %335
  %337 = bitcast float %333 to i32
  br label %338

338:                                              ; preds = %299, %296
  %339 = phi i32 [ %337, %299 ], [ 0, %296 ]
  %340 = phi nsz arcp contract float [ %336, %299 ], [ 0.000000e+00, %296 ]
  %341 = tail call nsz arcp contract noundef float @msl_sy_fadd(float noundef %340) #4
  %342 = icmp ugt i32 %46, %47
  br i1 %342, label %369, label %343

343:                                              ; preds = %338
  %344 = zext nneg i32 %49 to i64
  br label %345

345:                                              ; preds = %345, %343
  %346 = phi nsz <2 x float> [ zeroinitializer, %343 ], [ %366, %345 ]
  %347 = phi i64 [ 0, %343 ], [ %367, %345 ]
  %348 = trunc nuw i64 %347 to i32
  %349 = and i32 %348, 65535
  %350 = tail call noundef i32 @msl_sy_bc(i32 noundef %339, i32 noundef %349) #4
  %351 = bitcast i32 %350 to float
  %352 = shl i32 %348, 6
  %353 = add i32 %352, %1
  %354 = zext i32 %353 to i64
  %355 = getelementptr inbounds float, ptr %37, i64 %354
  %356 = load float, ptr %355, align 4
  %357 = extractelement <2 x float> %346, i64 0
  %358 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %351, float %356, float %357)
  %359 = insertelement <2 x float> poison, float %358, i64 0
  %360 = add i32 %353, 32
  %361 = zext i32 %360 to i64
  %362 = getelementptr inbounds float, ptr %37, i64 %361
  %363 = load float, ptr %362, align 4
  %364 = extractelement <2 x float> %346, i64 1
  %365 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %351, float %363, float %364)
  %366 = insertelement <2 x float> %359, float %365, i64 1
  %367 = add nuw nsw i64 %347, 1
  %368 = icmp eq i64 %367, %344
  br i1 %368, label %369, label %345

369:                                              ; preds = %345, %338
  %370 = phi <2 x float> [ zeroinitializer, %338 ], [ %366, %345 ]
  %371 = fdiv nsz arcp contract float 1.000000e+00, %341
  %372 = add i32 %50, %1
  %373 = extractelement <2 x float> %370, i64 0
  %374 = fmul nsz arcp contract float %371, %373
  %375 = zext i32 %372 to i64
  %376 = getelementptr inbounds float, ptr %14, i64 %375
  store float %374, ptr %376, align 4
  %377 = extractelement <2 x float> %370, i64 1
  %378 = fmul nsz arcp contract float %371, %377
  %379 = add i32 %372, 32
  %380 = zext i32 %379 to i64
  %381 = getelementptr inbounds float, ptr %14, i64 %380
  store float %378, ptr %381, align 4
  br label %382

382:                                              ; preds = %289, %369
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare nonnull ptr @llvm.threadlocal.address.p0(ptr nonnull) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fma.f32(float, float, float) #1

; Function Attrs: convergent nounwind
declare i32 @msl_sy_bc(i32 noundef, i32 noundef) local_unnamed_addr #2

; Function Attrs: convergent nounwind
declare float @msl_sy_fadd(float noundef) local_unnamed_addr #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.rint.f32(float) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.fptosi.sat.i32.f32(float) #1

; Function Attrs: convergent nounwind
declare float @msl_sy_fmax(float noundef) local_unnamed_addr #2

; Function Attrs: convergent nounwind
declare void @msl_sy_tgbar() local_unnamed_addr #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fabs.f32(float) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.copysign.f32(float, float) #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.umax.i32(i32, i32) #3

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.umin.i32(i32, i32) #3

attributes #0 = { nounwind uwtable "min-legal-vector-width"="96" "no-signed-zeros-fp-math"="true" "no-trapping-math"="true" "reciprocal-estimates"="none" "stack-protector-buffer-size"="8" "target-cpu"="x86-64-v3" "target-features"="+avx,+avx2,+bmi,+bmi2,+cmov,+crc32,+cx16,+cx8,+f16c,+fma,+fxsr,+lzcnt,+mmx,+movbe,+popcnt,+sahf,+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3,+x87,+xsave" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nounwind "no-signed-zeros-fp-math"="true" "no-trapping-math"="true" "reciprocal-estimates"="none" "stack-protector-buffer-size"="8" "target-cpu"="x86-64-v3" "target-features"="+avx,+avx2,+bmi,+bmi2,+cmov,+crc32,+cx16,+cx8,+f16c,+fma,+fxsr,+lzcnt,+mmx,+movbe,+popcnt,+sahf,+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3,+x87,+xsave" }
attributes #3 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #4 = { convergent nomerge nounwind }

!llvm.module.flags = !{!0, !1, !2}
!llvm.ident = !{!3, !3}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = !{i32 7, !"uwtable", i32 2}
!3 = !{!"Debian clang version 19.1.7 (3~deb12u1)"}
