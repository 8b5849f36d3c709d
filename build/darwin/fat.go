//go:build ignore

// fat OUT IN...
//
// Joins programs for macOS, one for each processor, into a universal one, where
// there is no lipo.
package main

import (
	"debug/macho"
	"encoding/binary"
	"fmt"
	"os"
)

// Each program begins at a page, of the processor with the larger ones.
const (
	align = 14 // as a power of two
	page  = 1 << align
)

func main() {
	if err := join(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "fat:", err)
		os.Exit(1)
	}
}

func join(out string, in []string) error {
	head := []uint32{macho.MagicFat, uint32(len(in))}
	var programs [][]byte
	at := page // of the next program; the header is shorter than a page
	for _, name := range in {
		f, err := macho.Open(name)
		if err != nil {
			return err
		}
		f.Close()
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		programs = append(programs, b)
		head = append(head, uint32(f.Cpu), f.SubCpu, uint32(at), uint32(len(b)), align)
		at += (len(b) + page - 1) / page * page
	}
	all, err := binary.Append(nil, binary.BigEndian, head)
	if err != nil {
		return err
	}
	for _, b := range programs {
		all = append(all, make([]byte, -len(all)&(page-1))...)
		all = append(all, b...)
	}
	return os.WriteFile(out, all, 0o755)
}
