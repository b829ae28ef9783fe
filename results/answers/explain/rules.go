package explain

// Rules are all rules, in the order in which findings of one cost are told.
// Another one is a block as theirs, its name here, and in rules_test.go a recording
// in which it holds and one in which it does not.
var Rules = []Rule{
	coldCompile, slowTokenizer, weightsCopied, weightsPacked, prefillOnly, slowFirstRound,
	tooManyCommits, commitTooLate, slowCommits, waitsForEach,
	smallReads, slowRead, pageFaults, notInMemory, stayedInMemory,
	thermalDrift, twoModes, stalledSteps, oversubscribed,
	notWarm, refusedRuns, duplicateCompiles, unusedPipelines,
	otherLoad, memoryLimit, idleGaps,
}

// least is the smallest part of the time to token 2, or of a step, that is
// worth a finding.
const least = 0.10
