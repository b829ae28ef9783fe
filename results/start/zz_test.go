package start_test
import ("testing";"os";"fmt";"github.com/introgen/introgen/results/recording";"github.com/introgen/introgen/results/breakdown";"github.com/introgen/introgen/results/start")
func TestZZ(t *testing.T){ for _,n:=range []string{"serial","concurrent","early"} {
 f,err:=recording.Open("/tmp/mod/"+n+".introgen"); if err!=nil {t.Fatal(err)}; _=os.Args
 b:=breakdown.Of(f)
 s,err:=start.Of(b.Run(f.Runs[0])); if err!=nil { t.Log(n,err); continue}
 fmt.Println(n, s.Mode, s.Check(), len(s.Compiles), len(s.Pieces))
 for _,w:=range []start.When{start.Serial,start.Concurrent,start.Early} { r:=s.Replay(start.Rules{When:w,Threads:2}); fmt.Println("  ",w,r.Goals,r.Wall) }
 } }
