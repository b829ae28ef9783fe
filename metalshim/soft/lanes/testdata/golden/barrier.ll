; a value kept over a threadgroup barrier, and static threadgroup memory
@m = internal thread_local global [64 x i32] undef, align 16

define void @msl_entry(ptr %g, i32 %lane, i32 %sg, i32 %x, i32 %y, i32 %z) {
  %1 = call align 16 ptr @llvm.threadlocal.address.p0(ptr align 16 @m)
  %2 = zext i32 %x to i64
  %3 = getelementptr inbounds [64 x i32], ptr %1, i64 0, i64 %2
  store i32 %x, ptr %3, align 4
  %4 = mul i32 %x, %x
  call void @msl_sy_tgbar()
  %5 = sub i32 63, %x
  %6 = zext i32 %5 to i64
  %7 = getelementptr inbounds [64 x i32], ptr %1, i64 0, i64 %6
  %8 = load i32, ptr %7, align 4
  %9 = add i32 %8, %4
  %10 = getelementptr inbounds i8, ptr %g, i64 16
  %11 = load ptr, ptr %10, align 8
  %12 = getelementptr inbounds i32, ptr %11, i64 %2
  store i32 %9, ptr %12, align 4
  ret void
}

declare ptr @llvm.threadlocal.address.p0(ptr)
declare void @msl_sy_tgbar()
