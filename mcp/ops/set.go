package ops

// All returns every operation there is, sorted by name. This is the only list:
// a new operation is one file, one line here, and a run of gen.
func All() []Op {
	return []Op{
		appCommand(),
		askHuman(),
		backupNow(),
		cancelTicket(),
		eventSearch(),
		failureAcknowledge(),
		focusChange(),
		handoffClaim(),
		handoffCreate(),
		handoffFinish(),
		handoffGet(),
		handoffList(),
		handoffRelease(),
		handoffSettle(),
		ledgerImport(),
		listPending(),
		recentEvents(),
		reportDone(),
		situationReport(),
		ticketAnswer(),
		ticketList(),
		ticketUndo(),
		waitForAnswer(),
	}
}
