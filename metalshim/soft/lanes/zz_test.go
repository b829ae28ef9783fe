package lanes
import ("testing";"os";"fmt")
func TestZZ(t *testing.T){ b,_:=os.ReadFile("/tmp/lw/proto/build/p_quantized_kernel_mul_mv_q8_0_f32_.ll"); m,_:=parseModule(string(b)); f,err:=parseFunction(m); if err!=nil{t.Fatal(err)}; fo,_:=findLoops(f.blocks,dominators(f.blocks)); a:=analyse(f,fo,true); for _,n:=range []string{"v.64","v.98","v.296","v.115","v.116","v.117","v.69","v.90","v.66","v.99"} { s:=a.shapes[n]; fmt.Println(n,s.kind,s.c!=nil,s.konst,s.exact,a.defs[n].text) } }
