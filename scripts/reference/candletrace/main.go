// Command candletrace turns the decoded trace of candle 0.11.0 on a recording
// mock of Metal into the short form that engine/metal/forward's tests read:
//
//	go run ./scripts/reference/candletrace candle-trace-13+4.txt engine/metal/forward/testdata/candle-13+4.txt.gz
//
// A line of the short form is one event, and its first word the kind:
//
//	section NAME
//	upload BUFFER LENGTH
//	new BUFFER LENGTH shared|private
//	lib NAME
//	pipe FUNCTION INDEX=0|1 …
//	barrier
//	run FUNCTION groups|threads GX,GY,GZ TX,TY,TZ TGBYTES ARG …
//	copy SOURCE DESTINATION LENGTH
//	encoder compute|blit
//	commit
//	wait
//
// ARG is INDEX=BUFFER+OFFSET or INDEX=HEX, the bytes of the argument. Fences,
// labels and residency sets are left out.
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: candletrace TRACE OUT.gz")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "candletrace:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	zip, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := convert(in, zip); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	if err := zip.Close(); err != nil {
		return err
	}
	return out.Close()
}

// convert writes the short form of the trace in r.
func convert(r io.Reader, w io.Writer) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		short, err := event(lines.Text())
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if short == "" {
			continue
		}
		if _, err := fmt.Fprintln(w, short); err != nil {
			return err
		}
	}
	return lines.Err()
}

var (
	newBuffer = regexp.MustCompile(`^NEWBUF (b\d+) len=(\d+) opts=0x(100|120)$`)
	upload    = regexp.MustCompile(`^NEWBUF_BYTES (b\d+) len=(\d+) opts=0x100$`)
	pipe      = regexp.MustCompile(`^PIPE (\S+) consts=\[(.*)\]$`)
	constant  = regexp.MustCompile(`\((\d+), "bool=([01])"\)`)
	dispatch  = regexp.MustCompile(`^DISPATCH (\S+) (groups|threads) grid=(\S+) tg=(\S+) \| (.*)$`)
	blit      = regexp.MustCompile(`^BLITCOPY (b\d+)\(\d+\)\+0 -> (b\d+)\(\d+\)\+0 n=(\d+)$`)
	argument  = regexp.MustCompile(`\[(\d+)\](b\d+\(\d+,\w+\)\+\d+|\w+=\S+|u64\[[^\]]*\]|GemmParams\([^)]*\))`)
	bound     = regexp.MustCompile(`^(b\d+)\(\d+,\w+\)\+(\d+)$`)
)

// event is the short form of one line, or "" for a line that is left out.
func event(line string) (string, error) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "===":
		return "section " + rest, nil
	case "LIB":
		return "lib " + rest, nil
	case "BARRIER":
		return "barrier", nil
	case "COMMIT":
		return "commit", nil
	case "WAIT":
		return "wait", nil
	case "ENC":
		kind, _, _ := strings.Cut(rest, " ")
		return "encoder " + kind, nil
	case "NEWBUF":
		if m := newBuffer.FindStringSubmatch(line); m != nil {
			return "new " + m[1] + " " + m[2] + " " + map[string]string{"100": "shared", "120": "private"}[m[3]], nil
		}
	case "NEWBUF_BYTES":
		if m := upload.FindStringSubmatch(line); m != nil {
			return "upload " + m[1] + " " + m[2], nil
		}
	case "BLITCOPY":
		if m := blit.FindStringSubmatch(line); m != nil {
			return "copy " + m[1] + " " + m[2] + " " + m[3], nil
		}
	case "PIPE":
		if m := pipe.FindStringSubmatch(line); m != nil {
			s := "pipe " + m[1]
			for _, c := range constant.FindAllStringSubmatch(m[2], -1) {
				s += " " + c[1] + "=" + c[2]
			}
			return s, nil
		}
	case "DISPATCH":
		if m := dispatch.FindStringSubmatch(line); m != nil {
			return launch(m)
		}
	default:
		return "", nil
	}
	return "", fmt.Errorf("unexpected form: %.80q", line)
}

// launch is the short form of a DISPATCH line.
func launch(m []string) (string, error) {
	memory, args, covered := "0", "", 0
	for _, a := range argument.FindAllStringSubmatch(m[5], -1) {
		covered += len(a[0]) + 1
		if a[1] == "2000" { // the trace's index for threadgroup memory 0
			memory = strings.TrimPrefix(a[2], "tgmem=")
			continue
		}
		if b := bound.FindStringSubmatch(a[2]); b != nil {
			args += " " + a[1] + "=" + b[1] + "+" + b[2]
			continue
		}
		data, err := bytesOf(a[2])
		if err != nil {
			return "", err
		}
		args += " " + a[1] + "=" + hex.EncodeToString(data)
	}
	if covered != len(m[5])+1 {
		return "", fmt.Errorf("arguments not understood: %.80q", m[5])
	}
	return fmt.Sprintf("run %s %s %s %s %s%s", m[1], m[2], m[3], m[4], memory, args), nil
}

// bytesOf is an argument as it lies in memory. The trace writes a value by its
// length and a guess at its type.
func bytesOf(text string) ([]byte, error) {
	var b []byte
	list := func(s string, add func(int64)) error {
		for _, f := range strings.Split(s, ", ") {
			v, err := strconv.ParseInt(f, 10, 64)
			if err != nil {
				return err
			}
			add(v)
		}
		return nil
	}
	u64 := func(v int64) { b = binary.LittleEndian.AppendUint64(b, uint64(v)) }
	i32 := func(v int64) { b = binary.LittleEndian.AppendUint32(b, uint32(v)) }
	switch {
	case strings.HasPrefix(text, "u64["):
		err := list(strings.TrimSuffix(text[4:], "]"), u64)
		return b, err
	case strings.HasPrefix(text, "GemmParams("):
		at := 0
		err := list(strings.TrimSuffix(text[11:], ")"), func(v int64) {
			if at >= 8 && at < 11 { // the three batch strides
				u64(v)
			} else {
				i32(v)
			}
			at++
		})
		i32(0) // padding to 8
		return b, err
	}
	kind, value, _ := strings.Cut(text, "=")
	if kind == "f32" {
		f, err := strconv.ParseFloat(value, 32)
		i32(int64(math.Float32bits(float32(f))))
		return b, err
	}
	v, err := strconv.ParseInt(value, 10, 64)
	switch kind {
	case "u64":
		u64(v)
	case "i32":
		i32(v)
	case "u8":
		b = append(b, byte(v))
	default:
		return nil, fmt.Errorf("argument of unknown kind %q", text)
	}
	return b, err
}
