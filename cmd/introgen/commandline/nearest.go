package commandline

// mostEdits is how many letters a word may differ in to be taken for another one.
const mostEdits = 2

// nearest is the name that a user may have meant by a word: the one that differs
// in the fewest letters, in at most mostEdits and in no more than half of the
// word. It is "" where none does.
func nearest(word string, names []string) string {
	best, least := "", min(mostEdits, len(word)/2)+1
	for _, n := range names {
		if d := edits(word, n); d < least {
			best, least = n, d
		}
	}
	return best
}

// edits is how many letters are to be put in, taken out, changed or exchanged
// with their neighbour to make b of a: the optimal string alignment distance.
func edits(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			changed := last[j-1]
			if a[i-1] != b[j-1] {
				changed++
			}
			row[j] = min(last[j]+1, row[j-1]+1, changed)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
