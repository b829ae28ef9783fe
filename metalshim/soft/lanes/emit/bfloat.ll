; Rounds floats and doubles to bfloat (see conversions).
define hidden bfloat @__truncsfbf2(float %x) #9900 {
  %u = bitcast float %x to i32
  %h = lshr i32 %u, 16
  %l = and i32 %h, 1
  %r = add i32 %l, 32767
  %s = add i32 %u, %r
  %t = lshr i32 %s, 16
  %q = or i32 %h, 64
  %n = fcmp uno float %x, 0.0
  %v = select i1 %n, i32 %q, i32 %t
  %w = trunc i32 %v to i16
  %b = bitcast i16 %w to bfloat
  ret bfloat %b
}
define hidden bfloat @__truncdfbf2(double %x) #9900 {
  %f = fptrunc double %x to float
  %b = call bfloat @__truncsfbf2(float %f)
  ret bfloat %b
}
