package cli

import "strings"

const (
	// columnGap stands between two columns.
	columnGap = "  "
	// minColumn is how narrow a column may become on a narrow terminal, in cells: an id and its prefix fit.
	minColumn = 18
)

// table is rows of cells, the head first.
type table struct {
	rows [][]string
	// right tells which columns are aligned to the right: numbers.
	right []bool
}

// String returns the table with aligned columns. Where cols is not 0, columns are made narrower until a line
// fits, the widest first, and their text is wrapped: nothing is cut off.
func (t table) String(cols int) string {
	widths := make([]int, len(t.right))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], widthOf(cell))
		}
	}
	if cols > 0 {
		squeeze(widths, cols-len(columnGap)*(len(widths)-1))
	}
	var b strings.Builder
	for _, row := range t.rows {
		t.writeRow(&b, row, widths)
	}
	return b.String()
}

// squeeze makes the widest columns narrower until all fit into room, or none can become narrower.
func squeeze(widths []int, room int) {
	for {
		sum, widest, next := 0, 0, minColumn
		for i, width := range widths {
			sum += width
			if width > widths[widest] {
				widest = i
			}
		}
		for i, width := range widths {
			if i != widest && width < widths[widest] {
				next = max(next, width)
			}
		}
		if sum <= room || widths[widest] <= minColumn {
			return
		}
		// Down to the next widest at most, so that equals shrink together; by one where they are equal.
		less := min(sum-room, max(widths[widest]-next, 1))
		widths[widest] = max(widths[widest]-less, minColumn)
	}
}

func (t table) writeRow(b *strings.Builder, row []string, widths []int) {
	cells := make([][]string, len(row))
	height := 1
	for i, cell := range row {
		cells[i] = []string{cell}
		if widthOf(cell) > widths[i] {
			cells[i] = wrap(cell, widths[i])
		}
		height = max(height, len(cells[i]))
	}
	for line := range height {
		var text strings.Builder
		for i := range cells {
			cell := ""
			if line < len(cells[i]) {
				cell = cells[i][line]
			}
			space := strings.Repeat(" ", max(widths[i]-widthOf(cell), 0))
			if i > 0 {
				text.WriteString(columnGap)
			}
			if t.right[i] {
				text.WriteString(space + cell)
			} else {
				text.WriteString(cell + space)
			}
		}
		b.WriteString(strings.TrimRight(text.String(), " ") + "\n")
	}
}
