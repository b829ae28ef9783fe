package kernels

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"maps"
	"slices"
	"strings"
	"testing"
)

const toml = "# generated\n[package]\nedition = \"2021\"\nname = \"kernels\"\nversion = \"1.2.3\"\nlicense = \"MIT OR Apache-2.0\"\n\n[lib]\nname = \"other\"\n"

// entry is one of a tar.
type entry struct {
	name string
	kind byte
	text string
}

func file(name, text string) entry { return entry{name, tar.TypeReg, text} }

// pack makes a .crate file.
func pack(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	w := tar.NewWriter(zip)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Mode: 0o644, Size: int64(len(e.text))}
		if e.kind == tar.TypeSymlink || e.kind == tar.TypeLink {
			h.Linkname, h.Size = e.text, 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write([]byte(e.text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func metal(path string) bool { return strings.HasSuffix(path, ".metal") }

func TestReadCrate(t *testing.T) {
	c, err := readCrate(bytes.NewReader(pack(t,
		entry{name: "kernels-1.2.3/", kind: tar.TypeDir},
		file("kernels-1.2.3/src/a.metal", "kernel void a() {}"),
		file("kernels-1.2.3/Cargo.toml", toml),
		file("kernels-1.2.3/src/lib.rs", "fn main() {}"),
		file("kernels-1.2.3/src/empty.metal", ""),
	)), metal)
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "kernels" || c.Version != "1.2.3" || c.Licence != "MIT OR Apache-2.0" {
		t.Errorf("%s %s, licence %s", c.Name, c.Version, c.Licence)
	}
	if got := slices.Sorted(maps.Keys(c.Files)); !slices.Equal(got, []string{"src/a.metal", "src/empty.metal"}) || string(c.Files["src/a.metal"]) != "kernel void a() {}" {
		t.Errorf("files %v: %q", got, c.Files)
	}
}

func TestHostileCrate(t *testing.T) {
	good := pack(t, file("kernels-1.2.3/Cargo.toml", toml), file("kernels-1.2.3/a.metal", strings.Repeat("x", 5000)))
	broken := bytes.Clone(good)
	broken[len(broken)-6] ^= 1 // in gzip's checksum
	many := []entry{file("kernels-1.2.3/Cargo.toml", toml)}
	for i := range maxEntries {
		many = append(many, file("kernels-1.2.3/"+strings.Repeat("d/", i%7)+string(rune('a'+i%26))+strings.Repeat("x", i/26%60)+strings.Repeat("y", i/26/60)+"z", ""))
	}
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"nothing", nil, "not a .crate file"},
		{"no gzip", []byte("PK\x03\x04 a zip"), "not a .crate file"},
		{"cut off", good[:len(good)/2], "unexpected EOF"},
		{"wrong checksum", broken, "checksum"},
		{"no manifest", pack(t, file("kernels-1.2.3/a.metal", "")), "no Cargo.toml"},
		{"manifest of another", pack(t, file("kernels-1.2.4/Cargo.toml", toml)), `package "kernels" "1.2.3", its folder is kernels-1.2.4`},
		{"manifest without a name", pack(t, file("-/Cargo.toml", "[package]\n")), `package "" ""`},
		{"two folders", pack(t, file("kernels-1.2.3/Cargo.toml", toml), file("other/a.metal", "")), "outside of the crate's folder"},
		{"upwards", pack(t, file("kernels-1.2.3/../../etc/a.metal", "")), "below the crate's folder"},
		{"above", pack(t, file("../a.metal", "")), "below the crate's folder"},
		{"absolute", pack(t, file("/etc/a.metal", "")), "below the crate's folder"},
		{"backslash", pack(t, file("kernels-1.2.3/..\\a.metal", "")), "below the crate's folder"},
		{"no folder", pack(t, file("a.metal", "")), "below the crate's folder"},
		{"link", pack(t, entry{"kernels-1.2.3/a.metal", tar.TypeSymlink, "/etc/passwd"}), "neither a file nor a folder"},
		{"hard link", pack(t, entry{"kernels-1.2.3/a.metal", tar.TypeLink, "kernels-1.2.3/b"}), "neither a file nor a folder"},
		{"device", pack(t, entry{name: "kernels-1.2.3/a.metal", kind: tar.TypeChar}), "neither a file nor a folder"},
		{"twice", pack(t, file("kernels-1.2.3/a.metal", ""), file("kernels-1.2.3/a.metal", "")), "stands there twice"},
		{"large file", pack(t, file("kernels-1.2.3/a.metal", strings.Repeat(" ", maxFile+1))), "at most"},
		{"large in all", pack(t, file("kernels-1.2.3/a.rs", strings.Repeat(" ", maxBytes))), "bytes unpacked"},
		{"many entries", pack(t, many...), "entries"},
		{"bytes behind it", append(bytes.Clone(good), "more"...), "behind the archive"},
	} {
		if _, err := readCrate(bytes.NewReader(c.b), metal); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.want)
		}
	}
}

// FuzzReadCrate feeds the unpacked archive, which a mutation of the packed one would
// hardly ever reach.
func FuzzReadCrate(f *testing.F) {
	unpacked := func(entries ...entry) []byte {
		zip, err := gzip.NewReader(bytes.NewReader(pack(f, entries...)))
		if err != nil {
			f.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(zip); err != nil {
			f.Fatal(err)
		}
		return b.Bytes()
	}
	f.Add(unpacked(file("kernels-1.2.3/Cargo.toml", toml), file("kernels-1.2.3/a.metal", "text")))
	f.Add(unpacked(entry{"kernels-1.2.3/a.metal", tar.TypeSymlink, "/etc/passwd"}))
	f.Add(unpacked(file(strings.Repeat("long/", 60)+"a.metal", "text")))
	f.Fuzz(func(t *testing.T, archive []byte) {
		var b bytes.Buffer
		zip, _ := gzip.NewWriterLevel(&b, gzip.NoCompression)
		zip.Write(archive)
		zip.Close()
		c, err := readCrate(&b, metal)
		if err != nil {
			return
		}
		total := 0
		for name, text := range c.Files {
			total += len(text)
			if !metal(name) || strings.HasPrefix(name, "/") || strings.Contains(name, "..") && slices.Contains(strings.Split(name, "/"), "..") {
				t.Errorf("file %q", name)
			}
		}
		if total > maxBytes || c.Name == "" {
			t.Errorf("%d bytes, package %q", total, c.Name)
		}
	})
}
