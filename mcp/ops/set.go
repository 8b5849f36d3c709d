package ops

// All returns every operation there is, sorted by name. This is the only list:
// a new operation is one file, one line here, and a run of gen.
func All() []Op {
	return []Op{
		appCommand(),
		askHuman(),
		attachmentOpen(),
		backupNow(),
		briefGet(),
		briefSeen(),
		cancelTicket(),
		eventGet(),
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
		settingsGet(),
		settingsSet(),
		situationReport(),
		ticketAnswer(),
		ticketList(),
		ticketUndo(),
		waitForAnswer(),
	}
}
