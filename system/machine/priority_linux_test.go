package machine

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestGiveWay: all threads of a process, and what it starts then, come behind others.
func TestGiveWay(t *testing.T) {
	const variable = "TEST_GIVES_WAY"
	if os.Getenv(variable) != "" {
		if err := GiveWay(); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("sh", "-c", "nice; for t in /proc/$PPID/task/*; do sed 's/.*) //' $t/stat | cut -d' ' -f17; done").Output()
		if err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("nice " + strings.Join(strings.Fields(string(out)), " ") + "\n")
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestGiveWay$")
	cmd.Env = append(os.Environ(), variable+"=1")
	out, err := cmd.CombinedOutput()
	_, values, ok := strings.Cut(string(out), "nice ")
	values, _, _ = strings.Cut(values, "\n")
	if err != nil || !ok || len(strings.Fields(values)) < 3 {
		t.Fatalf("%v: %s", err, out)
	}
	for _, v := range strings.Fields(values) {
		if v != "10" {
			t.Errorf("the priorities are %q", values)
		}
	}
}
