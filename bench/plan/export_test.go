package plan

// CopyHalf is copyHalf, for tests.
var CopyHalf = copyHalf
