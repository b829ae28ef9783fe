package gguf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Writer writes a GGUF file with the metadata of another one and tensors of its
// own: what changing a model's tensor types needs. The metadata are copied byte
// by byte, but for general.file_type. Tensor data are streamed.
type Writer struct {
	w       io.Writer
	tensors []Tensor
	align   int64
	pos     int64 // bytes written so far
	end     int64 // where the last tensor ends
}

// NewWriter writes the header of the new file to w: version, alignment and
// metadata of from, fileType (enum llama_ftype, 7 for mostly Q8_0) under
// general.file_type, which is added where it is missing, and a directory of
// tensors. Their Name, Type and Dims count; Offset and Bytes are worked out.
// from is not needed afterwards.
//
// Then the tensors' data are written with Write, in the same order.
func NewWriter(w io.Writer, from *File, fileType uint32, tensors []Tensor) (*Writer, error) {
	out := &Writer{w: w, align: from.Alignment, tensors: make([]Tensor, len(tensors))}
	copy(out.tensors, tensors)
	head, err := header(from, fileType, out.tensors)
	if err != nil {
		return nil, fmt.Errorf("gguf: write: %w", err)
	}
	out.pos, out.end = int64(len(head)), int64(len(head))
	for i := range out.tensors {
		t := &out.tensors[i]
		t.Offset += int64(len(head))
		if t.Bytes > 0 {
			out.end = t.Offset + t.Bytes
		}
	}
	if _, err := w.Write(head); err != nil {
		return nil, fmt.Errorf("gguf: write header: %w", err)
	}
	return out, nil
}

// header returns all that stands before the data, padded, and fills in Bytes
// and the offsets from the start of the data.
func header(from *File, fileType uint32, tensors []Tensor) (head []byte, err error) {
	le := binary.LittleEndian
	meta := from.Metadata()
	keys := len(from.keys)
	at, end := len(meta), len(meta) // what the new value replaces
	if i, ok := from.byKey[keyFileType]; ok {
		at, end = from.keys[i].at-4-from.meta[0], from.keys[i].end-from.meta[0]
	} else {
		keys++
	}
	err = Fault(func() error {
		head = append(head, "GGUF"...)
		head = le.AppendUint32(head, from.Version)
		head = le.AppendUint64(head, uint64(len(tensors)))
		head = le.AppendUint64(head, uint64(keys))
		head = append(head, meta[:at]...)
		if at == len(meta) {
			head = appendString(head, keyFileType)
		}
		head = le.AppendUint32(head, uint32(KindUint32))
		head = le.AppendUint32(head, fileType)
		head = append(head, meta[end:]...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var pos int64
	for i := range tensors {
		t := &tensors[i]
		if err := t.measure(); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", t.Name, err)
		}
		t.Offset = pos
		if pos = alignUp(pos+t.Bytes, from.Alignment); pos > maxFile {
			return nil, fmt.Errorf("tensor %q: the tensors before it and itself add up to more than %d bytes", t.Name, int64(maxFile))
		}
		head = appendString(head, t.Name)
		head = le.AppendUint32(head, uint32(len(t.Dims)))
		for _, d := range t.Dims {
			head = le.AppendUint64(head, d)
		}
		head = le.AppendUint32(head, uint32(t.Type))
		head = le.AppendUint64(head, uint64(t.Offset))
	}
	return append(head, make([]byte, alignUp(int64(len(head)), from.Alignment)-int64(len(head)))...), nil
}

func appendString(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}

// Write writes tensor data, in pieces of any length; one piece does not reach
// from a tensor into the next. The padding between tensors is added.
func (w *Writer) Write(p []byte) (int, error) {
	var room int64
	for len(w.tensors) > 0 && len(p) > 0 {
		t := &w.tensors[0]
		if room = t.Offset + t.Bytes - w.pos; room > 0 {
			break
		}
		w.tensors = w.tensors[1:]
		if len(w.tensors) > 0 {
			if err := w.write(make([]byte, w.tensors[0].Offset-w.pos)); err != nil {
				return 0, err
			}
		}
		room = 0
	}
	if int64(len(p)) > room {
		if len(w.tensors) == 0 {
			return 0, fmt.Errorf("gguf: write: %d bytes after the last tensor", len(p))
		}
		return 0, fmt.Errorf("gguf: write: %d bytes for tensor %q, which has room for %d more", len(p), w.tensors[0].Name, room)
	}
	if err := w.write(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *Writer) write(p []byte) error {
	n, err := w.w.Write(p)
	w.pos += int64(n)
	if err != nil {
		return fmt.Errorf("gguf: write: %w", err)
	}
	return nil
}

// Close pads the last tensor, as ggml does, and reports data that are missing.
// It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.pos < w.end {
		return fmt.Errorf("gguf: write: the file ends at byte %d, but the last tensor ends at %d", w.pos, w.end)
	}
	if err := w.write(make([]byte, alignUp(w.end, w.align)-w.pos)); err != nil {
		return err
	}
	w.w = closedWriter{}
	return nil
}

// closedWriter refuses what is written after Close.
type closedWriter struct{}

func (closedWriter) Write([]byte) (int, error) { return 0, errors.New("the writer is closed") }
