# Parses Swift from stdin with tree-sitter's grammar, and prints the lines in which
# that finds errors.
import sys

import tree_sitter
import tree_sitter_swift

parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_swift.language()))
todo = [parser.parse(sys.stdin.buffer.read()).root_node]
while todo:
    node = todo.pop()
    if node.is_error or node.is_missing:
        print(f"line {node.start_point[0] + 1}: {node.type} {node.text[:60]!r}")
    todo.extend(node.children)
