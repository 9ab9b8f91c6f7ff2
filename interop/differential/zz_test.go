package differential

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
)

var num = regexp.MustCompile(`[0-9]+`)

func TestZZ(t *testing.T) {
	counts := map[string]int{}
	depth := map[string]int{}
	lines := 0
	for seed := range 300 {
		h := anyHistory.Example(seed + 1)
		h.opts.boltPlacement = true
		p := &player{engine: bolt, dir: filepath.Join(t.TempDir())}
		p.play(h)
		if seed < 2 {
			fmt.Println(h)
			os.WriteFile(fmt.Sprintf("/tmp/iop/trace%d", seed), []byte(strings.Join(p.trace, "\n")), 0o600)
		}
		lines += len(p.trace)
		for _, l := range p.trace {
			w := strings.Fields(l)
			i := strings.LastIndex(l, ": ")
			if i < 0 {
				i = 0
			}
			o := l[i:]
			if len(o) > 30 || strings.Contains(o, "\"") {
				o = "other"
			}
			counts[w[0]+" "+num.ReplaceAllString(o, "N")]++
			if i := strings.Index(l, "Depth:"); i > 0 {
				depth[l[i:i+8]]++
			}
		}
	}
	var ks []string
	for k := range counts {
		if counts[k] > 3 {
			ks = append(ks, k)
		}
	}
	sort.Strings(ks)
	for _, k := range ks {
		fmt.Println(counts[k], k)
	}
	fmt.Println(depth, lines)
}
