; Converts half to float, and floats and doubles to half (see conversions). A half
; is a float whose exponent counts from another zero; below 2^-14 it counts units
; of 2^-24. A double goes by a float that was rounded to odd, so that the second
; rounding sees what the first one lost.
define hidden float @__extendhfsf2(half %x) #9900 {
  %h = bitcast half %x to i16
  %u = zext i16 %h to i32
  %s = and i32 %u, 32768
  %sign = shl i32 %s, 16
  %a = and i32 %u, 32767
  %m = shl i32 %a, 13
  %normal = add i32 %m, 939524096
  %inf = or i32 %m, 2139095040
  %nan = or i32 %inf, 4194304
  %count = sitofp i32 %a to float
  %unit = fmul float %count, 0x3E70000000000000
  %small = bitcast float %unit to i32
  %is.small = icmp ult i32 %a, 1024
  %is.inf = icmp eq i32 %a, 31744
  %is.nan = icmp ugt i32 %a, 31744
  %r1 = select i1 %is.small, i32 %small, i32 %normal
  %r2 = select i1 %is.inf, i32 %inf, i32 %r1
  %r3 = select i1 %is.nan, i32 %nan, i32 %r2
  %r = or i32 %r3, %sign
  %f = bitcast i32 %r to float
  ret float %f
}
define hidden half @__truncsfhf2(float %x) #9900 {
  %u = bitcast float %x to i32
  %s = lshr i32 %u, 16
  %sign = and i32 %s, 32768
  %a = and i32 %u, 2147483647
  %m = lshr i32 %a, 13
  %odd = and i32 %m, 1
  %bias = add i32 %odd, -939520001
  %up = add i32 %a, %bias
  %normal = lshr i32 %up, 13
  %e = lshr i32 %a, 23
  %d = sub i32 126, %e
  %far = icmp ugt i32 %d, 25
  %shift = select i1 %far, i32 25, i32 %d
  %frac = and i32 %a, 8388607
  %full = or i32 %frac, 8388608
  %whole = lshr i32 %full, %shift
  %back = shl i32 %whole, %shift
  %rest = sub i32 %full, %back
  %below = sub i32 %shift, 1
  %middle = shl i32 1, %below
  %more = icmp ugt i32 %rest, %middle
  %tie = icmp eq i32 %rest, %middle
  %bit = trunc i32 %whole to i1
  %tied = and i1 %tie, %bit
  %add = or i1 %more, %tied
  %one = zext i1 %add to i32
  %small = add i32 %whole, %one
  %payload = and i32 %m, 1023
  %nan = or i32 %payload, 32256
  %is.small = icmp ult i32 %a, 947912704
  %is.inf = icmp uge i32 %a, 1199566848
  %is.nan = icmp ugt i32 %a, 2139095040
  %r1 = select i1 %is.small, i32 %small, i32 %normal
  %r2 = select i1 %is.inf, i32 31744, i32 %r1
  %r3 = select i1 %is.nan, i32 %nan, i32 %r2
  %r = or i32 %r3, %sign
  %w = trunc i32 %r to i16
  %h = bitcast i16 %w to half
  ret half %h
}
define hidden half @__truncdfhf2(double %x) #9900 {
  %near = fptrunc double %x to float
  %again = fpext float %near to double
  %xb = bitcast double %x to i64
  %gb = bitcast double %again to i64
  %xa = and i64 %xb, 9223372036854775807
  %ga = and i64 %gb, 9223372036854775807
  %same = icmp eq i64 %xa, %ga
  %over = icmp ugt i64 %ga, %xa
  %none = fcmp uno double %x, 0.0
  %n = bitcast float %near to i32
  %back = sext i1 %over to i32
  %down = add i32 %n, %back
  %odd = or i32 %down, 1
  %keep = or i1 %same, %none
  %r = select i1 %keep, i32 %n, i32 %odd
  %f = bitcast i32 %r to float
  %h = call half @__truncsfhf2(float %f)
  ret half %h
}
