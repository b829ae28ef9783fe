; a loop that lanes leave at different times, with a reduction inside
define void @msl_entry(ptr %g, i32 %lane, i32 %sg, i32 %x, i32 %y, i32 %z) {
entry:
  %po = getelementptr inbounds i8, ptr %g, i64 16
  %bo = load ptr, ptr %po, align 8
  br label %head

head:
  %i = phi i32 [ 0, %entry ], [ %i1, %head ]
  %s = phi float [ 0.0, %entry ], [ %s1, %head ]
  %r = tail call float @msl_sy_fadd(float 1.0) #1
  %s1 = fadd float %s, %r
  %i1 = add nuw i32 %i, 1
  %done = icmp ugt i32 %i1, %lane
  br i1 %done, label %out, label %head

out:
  %at = zext i32 %lane to i64
  %p = getelementptr inbounds float, ptr %bo, i64 %at
  store float %s1, ptr %p, align 4
  ret void
}

declare float @msl_sy_fadd(float) #1

attributes #1 = { convergent nounwind }
