; ModuleID = '-'
source_filename = "-"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%"struct.metal::msl_threadgroup_memory" = type { [2048 x i8] }
%"struct.metal::msl_threadgroup_memory.9" = type { [2112 x i8] }

@msl_fcd_10 = hidden local_unnamed_addr constant i8 1, align 1
@msl_fcd_200 = hidden local_unnamed_addr constant i8 1, align 1
@msl_fcd_201 = hidden local_unnamed_addr constant i8 1, align 1
@msl_fcd_202 = hidden local_unnamed_addr constant i8 1, align 1
@_ZZL4gemmILi32ELi32ELi16ELi2ELi2ELb0EEvPKfS1_PfRK10GemmParamsPKlDv3_jjjE12msl_s_tile_a = internal thread_local unnamed_addr global %"struct.metal::msl_threadgroup_memory" zeroinitializer, align 16
@_ZZL4gemmILi32ELi32ELi16ELi2ELi2ELb0EEvPKfS1_PfRK10GemmParamsPKlDv3_jjjE12msl_s_tile_b = internal thread_local unnamed_addr global %"struct.metal::msl_threadgroup_memory.9" zeroinitializer, align 16
@msl_fc_200 = hidden local_unnamed_addr constant i8 0, align 1
@msl_fc_201 = hidden local_unnamed_addr constant i8 1, align 1
@msl_fc_10 = hidden local_unnamed_addr constant i8 1, align 1
@msl_fc_202 = hidden local_unnamed_addr constant i8 0, align 1

; Function Attrs: nounwind uwtable
define void @msl_entry(ptr nocapture noundef readonly %0, i32 noundef %1, i32 noundef %2, i32 noundef %3, i32 noundef %4, i32 noundef %5) local_unnamed_addr #0 {
  %7 = getelementptr inbounds i8, ptr %0, i64 16
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds i8, ptr %0, i64 48
  %10 = load ptr, ptr %9, align 8
  %11 = getelementptr inbounds i8, ptr %10, i64 8
  %12 = load i32, ptr %11, align 1
  %13 = getelementptr inbounds i8, ptr %10, i64 12
  %14 = load i32, ptr %13, align 1
  %15 = getelementptr inbounds i8, ptr %10, i64 16
  %16 = load i32, ptr %15, align 1
  %17 = getelementptr inbounds i8, ptr %10, i64 24
  %18 = load i32, ptr %17, align 1
  %19 = getelementptr inbounds i8, ptr %10, i64 28
  %20 = load i32, ptr %19, align 1
  %21 = getelementptr inbounds i8, ptr %0, i64 72
  %22 = load ptr, ptr %21, align 8
  %23 = getelementptr inbounds i8, ptr %0, i64 512
  %24 = load i32, ptr %23, align 8
  %25 = getelementptr inbounds i8, ptr %0, i64 516
  %26 = load i32, ptr %25, align 4
  %27 = tail call align 16 ptr @llvm.threadlocal.address.p0(ptr align 16 @_ZZL4gemmILi32ELi32ELi16ELi2ELi2ELb0EEvPKfS1_PfRK10GemmParamsPKlDv3_jjjE12msl_s_tile_a)
  %28 = tail call align 16 ptr @llvm.threadlocal.address.p0(ptr align 16 @_ZZL4gemmILi32ELi32ELi16ELi2ELi2ELb0EEvPKfS1_PfRK10GemmParamsPKlDv3_jjjE12msl_s_tile_b)
  %29 = icmp slt i32 %24, %18
  %30 = icmp slt i32 %26, %20
  %31 = select i1 %29, i1 %30, i1 false
  br i1 %31, label %32, label %661

32:                                               ; preds = %6
  %33 = getelementptr inbounds i8, ptr %0, i64 520
  %34 = load i32, ptr %33, align 8
  %35 = getelementptr inbounds i8, ptr %10, i64 48
  %36 = load i64, ptr %35, align 1
  %37 = getelementptr inbounds i8, ptr %10, i64 20
  %38 = load i32, ptr %37, align 1
  %39 = load i32, ptr %10, align 1
  %40 = getelementptr inbounds i8, ptr %0, i64 40
  %41 = load ptr, ptr %40, align 8
  %42 = getelementptr inbounds i8, ptr %0, i64 24
  %43 = load ptr, ptr %42, align 8
  %44 = shl nsw i32 %26, 5
  %45 = sub nsw i32 %39, %44
  %46 = zext i32 %34 to i64
  %47 = sext i32 %44 to i64
  %48 = getelementptr inbounds i8, ptr %22, i64 8
  %49 = load i64, ptr %48, align 8
  %50 = mul nsw i64 %49, %46
  %51 = getelementptr float, ptr %43, i64 %50
  %52 = mul nsw i64 %36, %46
  %53 = sext i32 %38 to i64
  %54 = mul nsw i64 %53, %47
  %55 = getelementptr float, ptr %41, i64 %52
  %56 = getelementptr float, ptr %55, i64 %54
  %57 = shl nsw i32 %24, 5
  %58 = tail call noundef i32 @llvm.smin.i32(i32 %45, i32 32)
  %59 = sext i32 %57 to i64
  %60 = getelementptr float, ptr %51, i64 %59
  %61 = getelementptr float, ptr %56, i64 %59
  %62 = icmp sgt i32 %12, 0
  br i1 %62, label %67, label %63

63:                                               ; preds = %32
  %64 = shl nsw i32 %2, 3
  %65 = sext i32 %1 to i64
  %66 = sext i32 %58 to i64
  br label %251

67:                                               ; preds = %32
  %68 = load i64, ptr %22, align 8
  %69 = mul nsw i64 %68, %46
  %70 = getelementptr float, ptr %8, i64 %69
  %71 = sext i32 %14 to i64
  %72 = mul nsw i64 %47, %71
  %73 = getelementptr float, ptr %70, i64 %72
  %74 = shl i32 %2, 1
  %75 = icmp slt i32 %2, 16
  %76 = sdiv i32 %1, 16
  %77 = srem i32 %1, 16
  %78 = sext i32 %77 to i64
  %79 = getelementptr float, ptr %73, i64 %78
  %80 = icmp slt i32 %1, 32
  %81 = shl nsw i32 %2, 3
  %82 = shl nsw i32 %2, 7
  %83 = sext i32 %82 to i64
  %84 = getelementptr inbounds float, ptr %27, i64 %83
  %85 = icmp slt i32 %81, %58
  %86 = sext i32 %74 to i64
  %87 = sext i32 %76 to i64
  %88 = sext i32 %58 to i64
  %89 = sext i32 %1 to i64
  %90 = sext i32 %2 to i64
  %91 = getelementptr inbounds i8, ptr %84, i64 64
  %92 = getelementptr inbounds i8, ptr %84, i64 128
  %93 = getelementptr inbounds i8, ptr %84, i64 192
  %94 = getelementptr inbounds i8, ptr %84, i64 256
  %95 = getelementptr inbounds i8, ptr %84, i64 320
  %96 = getelementptr inbounds i8, ptr %84, i64 384
  %97 = getelementptr inbounds i8, ptr %84, i64 448
  %98 = sext i32 %16 to i64
  %99 = zext nneg i32 %12 to i64
  %100 = getelementptr inbounds [528 x float], ptr %28, i64 0, i64 %89
  %101 = add nsw i64 %89, 33
  %102 = getelementptr inbounds [528 x float], ptr %28, i64 0, i64 %101
  %103 = getelementptr inbounds i8, ptr %84, i64 4
  %104 = getelementptr inbounds i8, ptr %84, i64 68
  %105 = getelementptr inbounds i8, ptr %84, i64 132
  %106 = getelementptr inbounds i8, ptr %84, i64 196
  %107 = getelementptr inbounds i8, ptr %84, i64 260
  %108 = getelementptr inbounds i8, ptr %84, i64 324
  %109 = getelementptr inbounds i8, ptr %84, i64 388
  %110 = getelementptr inbounds i8, ptr %84, i64 452
  %111 = add nsw i64 %89, 66
  %112 = getelementptr inbounds [528 x float], ptr %28, i64 0, i64 %111
  %113 = getelementptr inbounds i8, ptr %84, i64 8
  %114 = getelementptr inbounds i8, ptr %84, i64 72
  %115 = getelementptr inbounds i8, ptr %84, i64 136
  %116 = getelementptr inbounds i8, ptr %84, i64 200
  %117 = getelementptr inbounds i8, ptr %84, i64 264
  %118 = getelementptr inbounds i8, ptr %84, i64 328
  %119 = getelementptr inbounds i8, ptr %84, i64 392
  %120 = getelementptr inbounds i8, ptr %84, i64 456
  %121 = add nsw i64 %89, 99
  %122 = getelementptr inbounds [528 x float], ptr %28, i64 0, i64 %121
  %123 = getelementptr inbounds i8, ptr %84, i64 12
  %124 = getelementptr inbounds i8, ptr %84, i64 76
  %125 = getelementptr inbounds i8, ptr %84, i64 140
  %126 = getelementptr inbounds i8, ptr %84, i64 204
  %127 = getelementptr inbounds i8, ptr %84, i64 268
  %128 = getelementptr inbounds i8, ptr %84, i64 332
  %129 = getelementptr inbounds i8, ptr %84, i64 396
  %130 = getelementptr inbounds i8, ptr %84, i64 460
  %131 = add nsw i64 %89, 132
  %132 = getelementptr inbounds [528 x float], ptr %28, i64 0, i64 %131
  %133 = getelementptr inbounds i8, ptr %84, i64 16
  %134 = getelementptr inbounds i8, ptr %84, i64 80
  %135 = getelementptr inbounds i8, ptr %84, i64 144
  %136 = getelementptr inbounds i8, ptr %84, i64 208
  %137 = getelementptr inbounds i8, ptr %84, i64 272
  %138 = getelementptr inbounds i8, ptr %84, i64 336
  %139 = getelementptr inbounds i8, ptr %84, i64 400
  %140 = getelementptr inbounds i8, ptr %84, i64 464
  %141 = add nsw i64 %89, 165
  %142 = getelementptr inbounds [528 x float], ptr %28, i64 0, i64 %141
  %143 = getelementptr inbounds i8, ptr %84, i64 20
  %144 = getelementptr inbounds i8, ptr %84, i64 84
  %145 = getelementptr inbounds i8, ptr %84, i64 148
  %146 = getelementptr inbounds i8, ptr %84, i64 212
  %147 = getelementptr inbounds i8, ptr %84, i64 276
  %148 = getelementptr inbounds i8, ptr %84, i64 340
  %149 = getelementptr inbounds i8, ptr %84, i64 404
  %150 = getelementptr inbounds i8, ptr %84, i64 468
  %151 = add nsw i64 %89, 198
  %152 = getelementptr inbounds [528 x float], ptr %28, i64 0, i64 %151
  %153 = getelementptr inbounds i8, ptr %84, i64 24
  %154 = getelementptr inbounds i8, ptr %84, i64 88
  %155 = getelementptr inbounds i8, ptr %84, i64 152
  %156 = getelementptr inbounds i8, ptr %84, i64 216
  %157 = getelementptr inbounds i8, ptr %84, i64 280
  %158 = getelementptr inbounds i8, ptr %84, i64 344
  %159 = getelementptr inbounds i8, ptr %84, i64 408
  %160 = getelementptr inbounds i8, ptr %84, i64 472
  %161 = add nsw i64 %89, 231
  %162 = getelementptr inbounds [528 x float], ptr %28, i64 0, i64 %161
  %163 = getelementptr inbounds i8, ptr %84, i64 28
  %164 = getelementptr inbounds i8, ptr %84, i64 92
  %165 = getelementptr inbounds i8, ptr %84, i64 156
  %166 = getelementptr inbounds i8, ptr %84, i64 220
  %167 = getelementptr inbounds i8, ptr %84, i64 284
  %168 = getelementptr inbounds i8, ptr %84, i64 348
  %169 = getelementptr inbounds i8, ptr %84, i64 412
  %170 = getelementptr inbounds i8, ptr %84, i64 476
  %171 = add nsw i64 %89, 264
  %172 = getelementptr inbounds [528 x float], ptr %28, i64 0, i64 %171
  %173 = getelementptr inbounds i8, ptr %84, i64 32
  %174 = getelementptr inbounds i8, ptr %84, i64 96
  %175 = getelementptr inbounds i8, ptr %84, i64 160
  %176 = getelementptr inbounds i8, ptr %84, i64 224
  %177 = getelementptr inbounds i8, ptr %84, i64 288
  %178 = getelementptr inbounds i8, ptr %84, i64 352
  %179 = getelementptr inbounds i8, ptr %84, i64 416
  %180 = getelementptr inbounds i8, ptr %84, i64 480
  %181 = add nsw i64 %89, 297
  %182 = getelementptr inbounds [528 x float], ptr %28, i64 0, i64 %181
  %183 = getelementptr inbounds i8, ptr %84, i64 36
  %184 = getelementptr inbounds i8, ptr %84, i64 100
  %185 = getelementptr inbounds i8, ptr %84, i64 164
  %186 = getelementptr inbounds i8, ptr %84, i64 228
  %187 = getelementptr inbounds i8, ptr %84, i64 292
  %188 = getelementptr inbounds i8, ptr %84, i64 356
  %189 = getelementptr inbounds i8, ptr %84, i64 420
  %190 = getelementptr inbounds i8, ptr %84, i64 484
  %191 = add nsw i64 %89, 330
  %192 = getelementptr inbounds [528 x float], ptr %28, i64 0, i64 %191
  %193 = getelementptr inbounds i8, ptr %84, i64 40
  %194 = getelementptr inbounds i8, ptr %84, i64 104
  %195 = getelementptr inbounds i8, ptr %84, i64 168
  %196 = getelementptr inbounds i8, ptr %84, i64 232
  %197 = getelementptr inbounds i8, ptr %84, i64 296
  %198 = getelementptr inbounds i8, ptr %84, i64 360
  %199 = getelementptr inbounds i8, ptr %84, i64 424
  %200 = getelementptr inbounds i8, ptr %84, i64 488
  %201 = add nsw i64 %89, 363
  %202 = getelementptr inbounds [528 x float], ptr %28, i64 0, i64 %201
  %203 = getelementptr inbounds i8, ptr %84, i64 44
  %204 = getelementptr inbounds i8, ptr %84, i64 108
  %205 = getelementptr inbounds i8, ptr %84, i64 172
  %206 = getelementptr inbounds i8, ptr %84, i64 236
  %207 = getelementptr inbounds i8, ptr %84, i64 300
  %208 = getelementptr inbounds i8, ptr %84, i64 364
  %209 = getelementptr inbounds i8, ptr %84, i64 428
  %210 = getelementptr inbounds i8, ptr %84, i64 492
  %211 = add nsw i64 %89, 396
  %212 = getelementptr inbounds [528 x float], ptr %28, i64 0, i64 %211
  %213 = getelementptr inbounds i8, ptr %84, i64 48
  %214 = getelementptr inbounds i8, ptr %84, i64 112
  %215 = getelementptr inbounds i8, ptr %84, i64 176
  %216 = getelementptr inbounds i8, ptr %84, i64 240
  %217 = getelementptr inbounds i8, ptr %84, i64 304
  %218 = getelementptr inbounds i8, ptr %84, i64 368
  %219 = getelementptr inbounds i8, ptr %84, i64 432
  %220 = getelementptr inbounds i8, ptr %84, i64 496
  %221 = add nsw i64 %89, 429
  %222 = getelementptr inbounds [528 x float], ptr %28, i64 0, i64 %221
  %223 = getelementptr inbounds i8, ptr %84, i64 52
  %224 = getelementptr inbounds i8, ptr %84, i64 116
  %225 = getelementptr inbounds i8, ptr %84, i64 180
  %226 = getelementptr inbounds i8, ptr %84, i64 244
  %227 = getelementptr inbounds i8, ptr %84, i64 308
  %228 = getelementptr inbounds i8, ptr %84, i64 372
  %229 = getelementptr inbounds i8, ptr %84, i64 436
  %230 = getelementptr inbounds i8, ptr %84, i64 500
  %231 = add nsw i64 %89, 462
  %232 = getelementptr inbounds [528 x float], ptr %28, i64 0, i64 %231
  %233 = getelementptr inbounds i8, ptr %84, i64 56
  %234 = getelementptr inbounds i8, ptr %84, i64 120
  %235 = getelementptr inbounds i8, ptr %84, i64 184
  %236 = getelementptr inbounds i8, ptr %84, i64 248
  %237 = getelementptr inbounds i8, ptr %84, i64 312
  %238 = getelementptr inbounds i8, ptr %84, i64 376
  %239 = getelementptr inbounds i8, ptr %84, i64 440
  %240 = getelementptr inbounds i8, ptr %84, i64 504
  %241 = add nsw i64 %89, 495
  %242 = getelementptr inbounds [528 x float], ptr %28, i64 0, i64 %241
  %243 = getelementptr inbounds i8, ptr %84, i64 60
  %244 = getelementptr inbounds i8, ptr %84, i64 124
  %245 = getelementptr inbounds i8, ptr %84, i64 188
  %246 = getelementptr inbounds i8, ptr %84, i64 252
  %247 = getelementptr inbounds i8, ptr %84, i64 316
  %248 = getelementptr inbounds i8, ptr %84, i64 380
  %249 = getelementptr inbounds i8, ptr %84, i64 444
  %250 = getelementptr inbounds i8, ptr %84, i64 508
  br label %268

251:                                              ; preds = %598, %63
  %252 = phi i64 [ %66, %63 ], [ %88, %598 ]
  %253 = phi i64 [ %65, %63 ], [ %89, %598 ]
  %254 = phi i32 [ %64, %63 ], [ %81, %598 ]
  %255 = phi nsz float [ 0.000000e+00, %63 ], [ %599, %598 ]
  %256 = phi nsz float [ 0.000000e+00, %63 ], [ %600, %598 ]
  %257 = phi nsz float [ 0.000000e+00, %63 ], [ %601, %598 ]
  %258 = phi nsz float [ 0.000000e+00, %63 ], [ %602, %598 ]
  %259 = phi nsz float [ 0.000000e+00, %63 ], [ %603, %598 ]
  %260 = phi nsz float [ 0.000000e+00, %63 ], [ %604, %598 ]
  %261 = phi nsz float [ 0.000000e+00, %63 ], [ %605, %598 ]
  %262 = phi nsz float [ 0.000000e+00, %63 ], [ %606, %598 ]
  %263 = icmp slt i32 %1, 32
  %264 = getelementptr float, ptr %61, i64 %253
  %265 = sext i32 %254 to i64
  %266 = icmp sgt i64 %252, %265
  %267 = and i1 %263, %266
  br i1 %267, label %609, label %612

268:                                              ; preds = %598, %67
  %269 = phi nsz float [ 0.000000e+00, %67 ], [ %599, %598 ]
  %270 = phi nsz float [ 0.000000e+00, %67 ], [ %600, %598 ]
  %271 = phi nsz float [ 0.000000e+00, %67 ], [ %601, %598 ]
  %272 = phi nsz float [ 0.000000e+00, %67 ], [ %602, %598 ]
  %273 = phi nsz float [ 0.000000e+00, %67 ], [ %603, %598 ]
  %274 = phi nsz float [ 0.000000e+00, %67 ], [ %604, %598 ]
  %275 = phi nsz float [ 0.000000e+00, %67 ], [ %605, %598 ]
  %276 = phi nsz float [ 0.000000e+00, %67 ], [ %606, %598 ]
  %277 = phi i64 [ 0, %67 ], [ %607, %598 ]
  %278 = trunc nuw nsw i64 %277 to i32
  %279 = sub nsw i32 %12, %278
  %280 = tail call noundef i32 @llvm.smin.i32(i32 %279, i32 16)
  tail call void @msl_sy_tgbar() #5
  br i1 %75, label %281, label %310

281:                                              ; preds = %268
  %282 = icmp sgt i32 %279, %77
  %283 = getelementptr float, ptr %79, i64 %277
  br label %286

284:                                              ; preds = %295
  %285 = sext i32 %280 to i64
  br label %302

286:                                              ; preds = %295, %281
  %287 = phi i64 [ %86, %281 ], [ %300, %295 ]
  %288 = add nsw i64 %287, %87
  %289 = icmp slt i64 %288, %88
  %290 = and i1 %282, %289
  br i1 %290, label %291, label %295

291:                                              ; preds = %286
  %292 = mul nsw i64 %288, %71
  %293 = getelementptr float, ptr %283, i64 %292
  %294 = load float, ptr %293, align 4
  br label %295

295:                                              ; preds = %291, %286
  %296 = phi nsz arcp contract float [ %294, %291 ], [ 0.000000e+00, %286 ]
  %297 = shl nsw i64 %288, 4
  %298 = add nsw i64 %297, %78
  %299 = getelementptr inbounds [512 x float], ptr %27, i64 0, i64 %298
  store float %296, ptr %299, align 4
  %300 = add nsw i64 %287, 8
  %301 = icmp slt i64 %287, 24
  br i1 %301, label %286, label %284

302:                                              ; preds = %584, %284
  %303 = phi i64 [ %90, %284 ], [ %585, %584 ]
  br i1 %80, label %304, label %584

304:                                              ; preds = %302
  %305 = icmp slt i64 %303, %285
  %306 = add nsw i64 %303, %277
  %307 = mul nsw i64 %306, %98
  %308 = getelementptr float, ptr %60, i64 %307
  %309 = mul nsw i64 %303, 33
  br label %587

310:                                              ; preds = %584, %268
  tail call void @msl_sy_tgbar() #5
  br i1 %85, label %311, label %598

311:                                              ; preds = %310
  %312 = load float, ptr %100, align 4
  %313 = load float, ptr %84, align 16
  %314 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %313, float %312, float %269)
  %315 = load float, ptr %91, align 16
  %316 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %315, float %312, float %270)
  %317 = load float, ptr %92, align 16
  %318 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %317, float %312, float %271)
  %319 = load float, ptr %93, align 16
  %320 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %319, float %312, float %272)
  %321 = load float, ptr %94, align 16
  %322 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %321, float %312, float %273)
  %323 = load float, ptr %95, align 16
  %324 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %323, float %312, float %274)
  %325 = load float, ptr %96, align 16
  %326 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %325, float %312, float %275)
  %327 = load float, ptr %97, align 16
  %328 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %327, float %312, float %276)
  %329 = load float, ptr %102, align 4
  %330 = load float, ptr %103, align 4
  %331 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %330, float %329, float %314)
  %332 = load float, ptr %104, align 4
  %333 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %332, float %329, float %316)
  %334 = load float, ptr %105, align 4
  %335 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %334, float %329, float %318)
  %336 = load float, ptr %106, align 4
  %337 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %336, float %329, float %320)
  %338 = load float, ptr %107, align 4
  %339 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %338, float %329, float %322)
  %340 = load float, ptr %108, align 4
  %341 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %340, float %329, float %324)
  %342 = load float, ptr %109, align 4
  %343 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %342, float %329, float %326)
  %344 = load float, ptr %110, align 4
  %345 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %344, float %329, float %328)
  %346 = load float, ptr %112, align 4
  %347 = load float, ptr %113, align 8
  %348 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %347, float %346, float %331)
  %349 = load float, ptr %114, align 8
  %350 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %349, float %346, float %333)
  %351 = load float, ptr %115, align 8
  %352 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %351, float %346, float %335)
  %353 = load float, ptr %116, align 8
  %354 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %353, float %346, float %337)
  %355 = load float, ptr %117, align 8
  %356 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %355, float %346, float %339)
  %357 = load float, ptr %118, align 8
  %358 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %357, float %346, float %341)
  %359 = load float, ptr %119, align 8
  %360 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %359, float %346, float %343)
  %361 = load float, ptr %120, align 8
  %362 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %361, float %346, float %345)
  %363 = load float, ptr %122, align 4
  %364 = load float, ptr %123, align 4
  %365 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %364, float %363, float %348)
  %366 = load float, ptr %124, align 4
  %367 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %366, float %363, float %350)
  %368 = load float, ptr %125, align 4
  %369 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %368, float %363, float %352)
  %370 = load float, ptr %126, align 4
  %371 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %370, float %363, float %354)
  %372 = load float, ptr %127, align 4
  %373 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %372, float %363, float %356)
  %374 = load float, ptr %128, align 4
  %375 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %374, float %363, float %358)
  %376 = load float, ptr %129, align 4
  %377 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %376, float %363, float %360)
  %378 = load float, ptr %130, align 4
  %379 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %378, float %363, float %362)
  %380 = load float, ptr %132, align 4
  %381 = load float, ptr %133, align 16
  %382 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %381, float %380, float %365)
  %383 = load float, ptr %134, align 16
  %384 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %383, float %380, float %367)
  %385 = load float, ptr %135, align 16
  %386 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %385, float %380, float %369)
  %387 = load float, ptr %136, align 16
  %388 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %387, float %380, float %371)
  %389 = load float, ptr %137, align 16
  %390 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %389, float %380, float %373)
  %391 = load float, ptr %138, align 16
  %392 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %391, float %380, float %375)
  %393 = load float, ptr %139, align 16
  %394 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %393, float %380, float %377)
  %395 = load float, ptr %140, align 16
  %396 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %395, float %380, float %379)
  %397 = load float, ptr %142, align 4
  %398 = load float, ptr %143, align 4
  %399 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %398, float %397, float %382)
  %400 = load float, ptr %144, align 4
  %401 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %400, float %397, float %384)
  %402 = load float, ptr %145, align 4
  %403 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %402, float %397, float %386)
  %404 = load float, ptr %146, align 4
  %405 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %404, float %397, float %388)
  %406 = load float, ptr %147, align 4
  %407 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %406, float %397, float %390)
  %408 = load float, ptr %148, align 4
  %409 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %408, float %397, float %392)
  %410 = load float, ptr %149, align 4
  %411 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %410, float %397, float %394)
  %412 = load float, ptr %150, align 4
  %413 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %412, float %397, float %396)
  %414 = load float, ptr %152, align 4
  %415 = load float, ptr %153, align 8
  %416 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %415, float %414, float %399)
  %417 = load float, ptr %154, align 8
  %418 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %417, float %414, float %401)
  %419 = load float, ptr %155, align 8
  %420 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %419, float %414, float %403)
  %421 = load float, ptr %156, align 8
  %422 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %421, float %414, float %405)
  %423 = load float, ptr %157, align 8
  %424 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %423, float %414, float %407)
  %425 = load float, ptr %158, align 8
  %426 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %425, float %414, float %409)
  %427 = load float, ptr %159, align 8
  %428 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %427, float %414, float %411)
  %429 = load float, ptr %160, align 8
  %430 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %429, float %414, float %413)
  %431 = load float, ptr %162, align 4
  %432 = load float, ptr %163, align 4
  %433 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %432, float %431, float %416)
  %434 = load float, ptr %164, align 4
  %435 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %434, float %431, float %418)
  %436 = load float, ptr %165, align 4
  %437 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %436, float %431, float %420)
  %438 = load float, ptr %166, align 4
  %439 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %438, float %431, float %422)
  %440 = load float, ptr %167, align 4
  %441 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %440, float %431, float %424)
  %442 = load float, ptr %168, align 4
  %443 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %442, float %431, float %426)
  %444 = load float, ptr %169, align 4
  %445 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %444, float %431, float %428)
  %446 = load float, ptr %170, align 4
  %447 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %446, float %431, float %430)
  %448 = load float, ptr %172, align 4
  %449 = load float, ptr %173, align 16
  %450 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %449, float %448, float %433)
  %451 = load float, ptr %174, align 16
  %452 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %451, float %448, float %435)
  %453 = load float, ptr %175, align 16
  %454 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %453, float %448, float %437)
  %455 = load float, ptr %176, align 16
  %456 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %455, float %448, float %439)
  %457 = load float, ptr %177, align 16
  %458 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %457, float %448, float %441)
  %459 = load float, ptr %178, align 16
  %460 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %459, float %448, float %443)
  %461 = load float, ptr %179, align 16
  %462 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %461, float %448, float %445)
  %463 = load float, ptr %180, align 16
  %464 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %463, float %448, float %447)
  %465 = load float, ptr %182, align 4
  %466 = load float, ptr %183, align 4
  %467 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %466, float %465, float %450)
  %468 = load float, ptr %184, align 4
  %469 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %468, float %465, float %452)
  %470 = load float, ptr %185, align 4
  %471 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %470, float %465, float %454)
  %472 = load float, ptr %186, align 4
  %473 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %472, float %465, float %456)
  %474 = load float, ptr %187, align 4
  %475 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %474, float %465, float %458)
  %476 = load float, ptr %188, align 4
  %477 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %476, float %465, float %460)
  %478 = load float, ptr %189, align 4
  %479 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %478, float %465, float %462)
  %480 = load float, ptr %190, align 4
  %481 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %480, float %465, float %464)
  %482 = load float, ptr %192, align 4
  %483 = load float, ptr %193, align 8
  %484 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %483, float %482, float %467)
  %485 = load float, ptr %194, align 8
  %486 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %485, float %482, float %469)
  %487 = load float, ptr %195, align 8
  %488 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %487, float %482, float %471)
  %489 = load float, ptr %196, align 8
  %490 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %489, float %482, float %473)
  %491 = load float, ptr %197, align 8
  %492 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %491, float %482, float %475)
  %493 = load float, ptr %198, align 8
  %494 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %493, float %482, float %477)
  %495 = load float, ptr %199, align 8
  %496 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %495, float %482, float %479)
  %497 = load float, ptr %200, align 8
  %498 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %497, float %482, float %481)
  %499 = load float, ptr %202, align 4
  %500 = load float, ptr %203, align 4
  %501 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %500, float %499, float %484)
  %502 = load float, ptr %204, align 4
  %503 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %502, float %499, float %486)
  %504 = load float, ptr %205, align 4
  %505 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %504, float %499, float %488)
  %506 = load float, ptr %206, align 4
  %507 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %506, float %499, float %490)
  %508 = load float, ptr %207, align 4
  %509 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %508, float %499, float %492)
  %510 = load float, ptr %208, align 4
  %511 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %510, float %499, float %494)
  %512 = load float, ptr %209, align 4
  %513 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %512, float %499, float %496)
  %514 = load float, ptr %210, align 4
  %515 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %514, float %499, float %498)
  %516 = load float, ptr %212, align 4
  %517 = load float, ptr %213, align 16
  %518 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %517, float %516, float %501)
  %519 = load float, ptr %214, align 16
  %520 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %519, float %516, float %503)
  %521 = load float, ptr %215, align 16
  %522 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %521, float %516, float %505)
  %523 = load float, ptr %216, align 16
  %524 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %523, float %516, float %507)
  %525 = load float, ptr %217, align 16
  %526 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %525, float %516, float %509)
  %527 = load float, ptr %218, align 16
  %528 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %527, float %516, float %511)
  %529 = load float, ptr %219, align 16
  %530 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %529, float %516, float %513)
  %531 = load float, ptr %220, align 16
  %532 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %531, float %516, float %515)
  %533 = load float, ptr %222, align 4
  %534 = load float, ptr %223, align 4
  %535 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %534, float %533, float %518)
  %536 = load float, ptr %224, align 4
  %537 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %536, float %533, float %520)
  %538 = load float, ptr %225, align 4
  %539 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %538, float %533, float %522)
  %540 = load float, ptr %226, align 4
  %541 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %540, float %533, float %524)
  %542 = load float, ptr %227, align 4
  %543 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %542, float %533, float %526)
  %544 = load float, ptr %228, align 4
  %545 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %544, float %533, float %528)
  %546 = load float, ptr %229, align 4
  %547 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %546, float %533, float %530)
  %548 = load float, ptr %230, align 4
  %549 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %548, float %533, float %532)
  %550 = load float, ptr %232, align 4
  %551 = load float, ptr %233, align 8
  %552 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %551, float %550, float %535)
  %553 = load float, ptr %234, align 8
  %554 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %553, float %550, float %537)
  %555 = load float, ptr %235, align 8
  %556 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %555, float %550, float %539)
  %557 = load float, ptr %236, align 8
  %558 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %557, float %550, float %541)
  %559 = load float, ptr %237, align 8
  %560 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %559, float %550, float %543)
  %561 = load float, ptr %238, align 8
  %562 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %561, float %550, float %545)
  %563 = load float, ptr %239, align 8
  %564 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %563, float %550, float %547)
  %565 = load float, ptr %240, align 8
  %566 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %565, float %550, float %549)
  %567 = load float, ptr %242, align 4
  %568 = load float, ptr %243, align 4
  %569 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %568, float %567, float %552)
  %570 = load float, ptr %244, align 4
  %571 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %570, float %567, float %554)
  %572 = load float, ptr %245, align 4
  %573 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %572, float %567, float %556)
  %574 = load float, ptr %246, align 4
  %575 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %574, float %567, float %558)
  %576 = load float, ptr %247, align 4
  %577 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %576, float %567, float %560)
  %578 = load float, ptr %248, align 4
  %579 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %578, float %567, float %562)
  %580 = load float, ptr %249, align 4
  %581 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %580, float %567, float %564)
  %582 = load float, ptr %250, align 4
  %583 = tail call nsz arcp contract noundef float @llvm.fma.f32(float %582, float %567, float %566)
  br label %598

584:                                              ; preds = %592, %302
  %585 = add nsw i64 %303, 4
  %586 = icmp slt i64 %303, 12
  br i1 %586, label %302, label %310

587:                                              ; preds = %592, %304
  %588 = phi i64 [ %89, %304 ], [ %596, %592 ]
  br i1 %305, label %589, label %592

589:                                              ; preds = %587
  %590 = getelementptr float, ptr %308, i64 %588
  %591 = load float, ptr %590, align 4
  br label %592

592:                                              ; preds = %589, %587
  %593 = phi nsz arcp contract float [ %591, %589 ], [ 0.000000e+00, %587 ]
  %594 = add nsw i64 %588, %309
  %595 = getelementptr inbounds [528 x float], ptr %28, i64 0, i64 %594
  store float %593, ptr %595, align 4
  %596 = add nsw i64 %588, 32
  %597 = icmp slt i64 %588, 0
  br i1 %597, label %587, label %584

598:                                              ; preds = %311, %310
  %599 = phi nsz float [ %269, %310 ], [ %569, %311 ]
  %600 = phi nsz float [ %270, %310 ], [ %571, %311 ]
  %601 = phi nsz float [ %271, %310 ], [ %573, %311 ]
  %602 = phi nsz float [ %272, %310 ], [ %575, %311 ]
  %603 = phi nsz float [ %273, %310 ], [ %577, %311 ]
  %604 = phi nsz float [ %274, %310 ], [ %579, %311 ]
  %605 = phi nsz float [ %275, %310 ], [ %581, %311 ]
  %606 = phi nsz float [ %276, %310 ], [ %583, %311 ]
  %607 = add nuw nsw i64 %277, 16
  %608 = icmp ult i64 %607, %99
  br i1 %608, label %268, label %251

609:                                              ; preds = %251
  %610 = mul nsw i64 %265, %53
  %611 = getelementptr float, ptr %264, i64 %610
  store float %255, ptr %611, align 4
  br label %612

612:                                              ; preds = %609, %251
  %613 = or disjoint i64 %265, 1
  %614 = icmp slt i64 %613, %252
  %615 = and i1 %263, %614
  br i1 %615, label %616, label %619

616:                                              ; preds = %612
  %617 = mul nsw i64 %613, %53
  %618 = getelementptr float, ptr %264, i64 %617
  store float %256, ptr %618, align 4
  br label %619

619:                                              ; preds = %616, %612
  %620 = or disjoint i64 %265, 2
  %621 = icmp slt i64 %620, %252
  %622 = and i1 %263, %621
  br i1 %622, label %623, label %626

623:                                              ; preds = %619
  %624 = mul nsw i64 %620, %53
  %625 = getelementptr float, ptr %264, i64 %624
  store float %257, ptr %625, align 4
  br label %626

626:                                              ; preds = %623, %619
  %627 = or disjoint i64 %265, 3
  %628 = icmp slt i64 %627, %252
  %629 = and i1 %263, %628
  br i1 %629, label %630, label %633

630:                                              ; preds = %626
  %631 = mul nsw i64 %627, %53
  %632 = getelementptr float, ptr %264, i64 %631
  store float %258, ptr %632, align 4
  br label %633

633:                                              ; preds = %630, %626
  %634 = or disjoint i64 %265, 4
  %635 = icmp slt i64 %634, %252
  %636 = and i1 %263, %635
  br i1 %636, label %637, label %640

637:                                              ; preds = %633
  %638 = mul nsw i64 %634, %53
  %639 = getelementptr float, ptr %264, i64 %638
  store float %259, ptr %639, align 4
  br label %640

640:                                              ; preds = %637, %633
  %641 = or disjoint i64 %265, 5
  %642 = icmp slt i64 %641, %252
  %643 = and i1 %263, %642
  br i1 %643, label %644, label %647

644:                                              ; preds = %640
  %645 = mul nsw i64 %641, %53
  %646 = getelementptr float, ptr %264, i64 %645
  store float %260, ptr %646, align 4
  br label %647

647:                                              ; preds = %644, %640
  %648 = or disjoint i64 %265, 6
  %649 = icmp slt i64 %648, %252
  %650 = and i1 %263, %649
  br i1 %650, label %651, label %654

651:                                              ; preds = %647
  %652 = mul nsw i64 %648, %53
  %653 = getelementptr float, ptr %264, i64 %652
  store float %261, ptr %653, align 4
  br label %654

654:                                              ; preds = %651, %647
  %655 = or disjoint i64 %265, 7
  %656 = icmp slt i64 %655, %252
  %657 = and i1 %263, %656
  br i1 %657, label %658, label %661

658:                                              ; preds = %654
  %659 = mul nsw i64 %655, %53
  %660 = getelementptr float, ptr %264, i64 %659
  store float %262, ptr %660, align 4
  br label %661

661:                                              ; preds = %6, %654, %658
  ret void
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none) uwtable
define noundef i32 @msl_limit() local_unnamed_addr #1 {
  ret i32 128
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare nonnull ptr @llvm.threadlocal.address.p0(ptr nonnull) #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fma.f32(float, float, float) #2

; Function Attrs: convergent nounwind
declare void @msl_sy_tgbar() local_unnamed_addr #3

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.smin.i32(i32, i32) #4

attributes #0 = { nounwind uwtable "min-legal-vector-width"="96" "no-signed-zeros-fp-math"="true" "no-trapping-math"="true" "reciprocal-estimates"="none" "stack-protector-buffer-size"="8" "target-cpu"="x86-64-v3" "target-features"="+avx,+avx2,+bmi,+bmi2,+cmov,+crc32,+cx16,+cx8,+f16c,+fma,+fxsr,+lzcnt,+mmx,+movbe,+popcnt,+sahf,+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3,+x87,+xsave" }
attributes #1 = { mustprogress nofree norecurse nosync nounwind willreturn memory(none) uwtable "min-legal-vector-width"="0" "no-signed-zeros-fp-math"="true" "no-trapping-math"="true" "reciprocal-estimates"="none" "stack-protector-buffer-size"="8" "target-cpu"="x86-64-v3" "target-features"="+avx,+avx2,+bmi,+bmi2,+cmov,+crc32,+cx16,+cx8,+f16c,+fma,+fxsr,+lzcnt,+mmx,+movbe,+popcnt,+sahf,+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3,+x87,+xsave" }
attributes #2 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { convergent nounwind "no-signed-zeros-fp-math"="true" "no-trapping-math"="true" "reciprocal-estimates"="none" "stack-protector-buffer-size"="8" "target-cpu"="x86-64-v3" "target-features"="+avx,+avx2,+bmi,+bmi2,+cmov,+crc32,+cx16,+cx8,+f16c,+fma,+fxsr,+lzcnt,+mmx,+movbe,+popcnt,+sahf,+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3,+x87,+xsave" }
attributes #4 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #5 = { convergent nomerge nounwind }

!llvm.module.flags = !{!0, !1, !2}
!llvm.ident = !{!3, !3}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = !{i32 7, !"uwtable", i32 2}
!3 = !{!"Debian clang version 19.1.7 (3~deb12u1)"}
