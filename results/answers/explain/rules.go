package explain

// Rules are all rules.
var Rules = []Rule{
	coldCompile, slowTokenizer, weightsCopied, weightsPacked, prefillOnly, slowFirstRound,
	tooManyCommits, commitTooLate, slowCommits,
	smallReads, slowRead, pageFaults, notInMemory, stayedInMemory,
	thermalDrift, twoModes, oversubscribed,
	notWarm, refusedRuns, duplicateCompiles,
	otherLoad, memoryLimit, idleGaps,
}

// least is the smallest part of the time to token 2, or of a step, that is
// worth a finding.
const least = 0.10
