; y[i] = a * x[i] for i < n, with an early return
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

define void @msl_entry(ptr noundef %g, i32 noundef %lane, i32 noundef %sg, i32 noundef %x, i32 noundef %y, i32 noundef %z) #0 {
entry:
  %pn = getelementptr inbounds i8, ptr %g, i64 16
  %bn = load ptr, ptr %pn, align 8
  %n = load i32, ptr %bn, align 4
  %base = shl i32 %sg, 5
  %i = add nuw i32 %base, %lane
  %in = icmp ult i32 %i, %n
  br i1 %in, label %body, label %end

body:                                             ; preds = %entry
  %px = getelementptr inbounds i8, ptr %g, i64 24
  %bx = load ptr, ptr %px, align 8
  %i64 = zext i32 %i to i64
  %ax = getelementptr inbounds float, ptr %bx, i64 %i64
  %v = load float, ptr %ax, align 4, !tbaa !0
  %w = fmul float %v, 3.000000e+00
  store float %w, ptr %ax, align 4
  br label %end

end:                                              ; preds = %body, %entry
  ret void
}

attributes #0 = { nounwind "target-cpu"="x86-64" }

!0 = !{!1, !1, i64 0}
!1 = !{!"float"}
