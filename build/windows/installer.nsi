; The installer for one person: no administrator, nothing outside of their own
; folders and registry. package.sh defines what is in capitals below.
;
;   setup.exe /S [/AUTOSTART] [/D=FOLDER]   without a question; /D last
;   steward-uninstall.exe /S                the same; keeps the data folder
;
; The folder may be one that holds other things: every file there begins with
; steward, and no other is touched. An installation in another folder is removed from
; there once this one is in place.
;
; Exit codes: 0 done, 1 cancelled, 2 a file or the folder cannot be written, 6 a
; running Steward could not be stopped and nothing was changed, 64 Windows is too
; old, 65 another machine.

Unicode true
SetCompressor /SOLID lzma
RequestExecutionLevel user
ManifestDPIAware true
ManifestSupportedOS Win10
Name "Steward"
OutFile "${OUT}"
InstallDir "$LOCALAPPDATA\Programs\Steward"
BrandingText "Steward ${VERSION}"
ShowInstDetails nevershow
ShowUninstDetails nevershow

!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\Steward"
!define RUN "Software\Microsoft\Windows\CurrentVersion\Run"
!define RUN_APPROVED "Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"
!define RUN_ONCE "Software\Microsoft\Windows\CurrentVersion\RunOnce"
!define EDGE "Microsoft\EdgeUpdate\Clients\{F3017226-FE2A-4295-8BDF-00C3A9A7E4C5}"
InstallDirRegKey HKCU "${UNINSTALL}" "InstallLocation"

VIProductVersion "${NUMBER}"
VIFileVersion "${NUMBER}"
VIAddVersionKey "CompanyName" "Steward"
VIAddVersionKey "FileDescription" "Steward installer"
VIAddVersionKey "FileVersion" "${NUMBER}"
VIAddVersionKey "LegalCopyright" "AGPL-3.0-only"
VIAddVersionKey "ProductName" "Steward"
VIAddVersionKey "ProductVersion" "${VERSION}"

!include "MUI2.nsh"
!include "FileFunc.nsh"
!include "LogicLib.nsh"
!include "WinVer.nsh"
!include "x64.nsh"

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_ABORTWARNING
!define MUI_COMPONENTSPAGE_NODESC
!insertmacro MUI_PAGE_COMPONENTS
!insertmacro MUI_PAGE_INSTFILES
!define MUI_FINISHPAGE_RUN "$INSTDIR\steward-desktop.exe"
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "SimpChinese"

LangString Needed ${LANG_ENGLISH} "Steward (needed)"
LangString Needed ${LANG_SIMPCHINESE} "Steward（必需）"
LangString Autostart ${LANG_ENGLISH} "Start when I sign in"
LangString Autostart ${LANG_SIMPCHINESE} "登录时启动"
LangString Comment ${LANG_ENGLISH} "What your agents did, and what needs you"
LangString Comment ${LANG_SIMPCHINESE} "你的智能体做了什么，什么需要你"
LangString TooOld ${LANG_ENGLISH} "Steward needs Windows 10 or newer."
LangString TooOld ${LANG_SIMPCHINESE} "Steward 需要 Windows 10 或更新版本。"
LangString OtherMachine ${LANG_ENGLISH} "This installer is for ${ARCH} machines."
LangString OtherMachine ${LANG_SIMPCHINESE} "此安装程序适用于 ${ARCH} 设备。"
LangString StillRuns ${LANG_ENGLISH} "The running Steward could not be stopped:"
LangString StillRuns ${LANG_SIMPCHINESE} "无法停止正在运行的 Steward："
LangString NoFolder ${LANG_ENGLISH} "Steward needs a folder. This is none, and cannot be made one:"
LangString NoFolder ${LANG_SIMPCHINESE} "Steward 需要一个文件夹。此路径不是文件夹，也无法创建："
LangString NotWritten ${LANG_ENGLISH} "This file cannot be written; what was there is still in place:"
LangString NotWritten ${LANG_SIMPCHINESE} "无法写入此文件，原有文件未改动："
LangString HalfWritten ${LANG_ENGLISH} "steward.exe is ${VERSION} now, but this file cannot be written; if it was there, it is still the older one. Close what uses it, then run this installer again: the two belong together."
LangString HalfWritten ${LANG_SIMPCHINESE} "steward.exe 已是 ${VERSION}，但无法写入此文件；若原有此文件，则仍为旧版本。请关闭占用它的程序，然后重新运行此安装程序：两者须为同一版本。"
LangString NoWebView ${LANG_ENGLISH} "WebView2 could not be installed. The window asks for it when it starts; everything else works without."
LangString NoWebView ${LANG_SIMPCHINESE} "未能安装 WebView2。窗口启动时会再次要求安装；其余功能无需它。"
LangString AlsoData ${LANG_ENGLISH} "Delete the ledger, its backups and the settings too?$\r$\n$\r$\n$LOCALAPPDATA\Steward"
LangString AlsoData ${LANG_SIMPCHINESE} "是否同时删除账本、备份和设置？$\r$\n$\r$\n$LOCALAPPDATA\Steward"

; In calls a function that works on $INSTDIR for another folder.
!macro In FOLDER FUNCTION
	Push $INSTDIR
	StrCpy $INSTDIR ${FOLDER}
	Call ${FUNCTION}
	Pop $INSTDIR
!macroend

; Stop asks what runs to leave until nothing does: when a service has left, a
; window may have taken its place. Exit code 6 alone tells of one that stays.
!macro Stop un
Function ${un}Stop
	StrCpy $R1 0
	${DoWhile} ${FileExists} "$INSTDIR\steward.exe"
		nsExec::ExecToStack /TIMEOUT=30000 '"$INSTDIR\steward.exe" stop --json'
		Pop $R0 ; the exit code, or what kept it from running
		Pop $R2 ; what it said
		StrCpy $R3 $R2 16
		${If} $R0 == 0
			IntOp $R1 $R1 + 1
			${If} $R3 == '{"stopped":false'
			${OrIf} $R1 == 5
				${Break}
			${EndIf}
		${ElseIf} $R0 != 6
			${Break} ; it does not start, or its settings lead to no ledger
		${Else}
			MessageBox MB_RETRYCANCEL|MB_ICONEXCLAMATION "$(StillRuns)$\r$\n$\r$\n$R2" /SD IDCANCEL IDRETRY again
			SetErrorLevel 6
			Quit
			again:
		${EndIf}
	${Loop}
FunctionEnd
!macroend
!insertmacro Stop ""
!insertmacro Stop "un."

; Fail ends the installer: what is said of which file.
!macro Fail TEXT FILE
	Push "${TEXT}$\r$\n$\r$\n${FILE}"
	Call Failed
!macroend
Function Failed
	Pop $0
	Delete "$INSTDIR\steward.exe.new"
	Delete "$INSTDIR\steward-desktop.exe.new"
	Delete "$INSTDIR\steward-license.txt.new"
	Delete "$INSTDIR\steward-uninstall.exe.new"
	MessageBox MB_OK|MB_ICONSTOP "$0" /SD IDOK
	SetErrorLevel 2
	Quit
FunctionEnd

; Stage writes a file beside its place, and Replace and Put put it there: a disk
; that is full is found while what was there is whole. WRITE is the command;
; silent, a failed one says so by the error flag alone.
!macro Stage NAME WRITE
	ClearErrors
	Delete "$INSTDIR\${NAME}.new" ; of an installer that was killed
	${WRITE}
	${If} ${Errors}
		!insertmacro Fail "$(NotWritten)" "$INSTDIR\${NAME}.new"
	${EndIf}
!macroend

; Replace puts a file in its place that no one runs. A folder of that name stays.
!macro Replace NAME
	SetFileAttributes "$INSTDIR\${NAME}" NORMAL
	System::Call 'kernel32::MoveFileExW(w "$INSTDIR\${NAME}.new", w "$INSTDIR\${NAME}", i 1) i .r0'
	${If} $0 == 0
		!insertmacro Fail "$(NotWritten)" "$INSTDIR\${NAME}"
	${EndIf}
!macroend

; Put puts a program in its place. Bridges that clients have started run on:
; Windows lets a running program be renamed, not overwritten. FAILED is what is
; said when it cannot.
!macro Put NAME FAILED
	System::Call 'kernel32::GetTickCount()i.r0'
	StrCpy $0 "$INSTDIR\${NAME}.$0.old"
	ClearErrors
	${If} ${FileExists} "$INSTDIR\${NAME}\*.*"
		SetErrors ; a folder, which would let itself be renamed
	${ElseIf} ${FileExists} "$INSTDIR\${NAME}"
		Rename "$INSTDIR\${NAME}" "$0"
	${EndIf}
	${IfNot} ${Errors}
		Rename "$INSTDIR\${NAME}.new" "$INSTDIR\${NAME}"
		${If} ${Errors}
			Rename "$0" "$INSTDIR\${NAME}"
			SetErrors
		${EndIf}
	${Else}
		SetErrors ; the question has cleared it
	${EndIf}
	${If} ${Errors}
		!insertmacro Fail "${FAILED}" "$INSTDIR\${NAME}"
	${EndIf}
	Delete "$0" ; stays while it runs, until the next update
!macroend

; Path adds the program's folder to the person's search path, or takes it out:
; $R9 is 1 or 0. What it added is noted as PathAdded: a folder that the person has
; put there stays. It works on memory, as a path is often longer than the texts of
; this installer may be, and keeps the kind of value that the path is.
!macro Path un
Function ${un}Path
	StrLen $R8 $INSTDIR
	IntOp $R8 $R8 * 2 ; bytes
	StrCpy $R6 0 ; whether the path has the folder
	; 0x80000001 is the person's own part of the registry; 0x10000006 asks for a
	; text, with its %VARIABLES% as they are
	System::Call 'advapi32::RegGetValueW(p 0x80000001, w "Environment", w "Path", i 0x10000006, *i .R1, p 0, *i .R2) i .R0'
	${If} $R0 != 0
		${If} $R0 == 2 ; there is none
		${AndIf} $R9 == 1
			WriteRegExpandStr HKCU "Environment" "Path" "$INSTDIR"
			WriteRegStr HKCU "${UNINSTALL}" "PathAdded" "$INSTDIR"
			Call ${un}Announce
		${EndIf}
		Return
	${EndIf}
	IntOp $R3 $R2 + $R8
	IntOp $R3 $R3 + 8
	System::Alloc $R3
	Pop $R4
	System::Call 'advapi32::RegGetValueW(p 0x80000001, w "Environment", w "Path", i 0x10000006, p 0, p R4, *i R2) i .R0'
	${If} $R0 != 0
		System::Free $R4
		Return
	${EndIf}
	StrCpy $R5 $R4
	${Do}
		System::Call 'shlwapi::StrStrIW(p R5, w "$INSTDIR") p .R5'
		${If} $R5 P= 0
			${Break}
		${EndIf}
		IntPtrOp $R7 $R5 + $R8
		System::Call '*$R7(&i2 .r1)' ; what follows
		StrCpy $2 59 ; what stands before; at the beginning as after a ;
		${If} $R5 P<> $R4
			IntPtrOp $0 $R5 - 2
			System::Call '*$0(&i2 .r2)'
		${EndIf}
		${If} $2 == 59
			${If} $1 == 0
			${OrIf} $1 == 59
				StrCpy $R6 1
				${Break}
			${EndIf}
		${EndIf}
		StrCpy $R5 $R7
	${Loop}
	${If} $R9 == 1
	${AndIf} $R6 == 0
		System::Call 'kernel32::lstrlenW(p R4) i .r0'
		${If} $0 > 0
			IntOp $1 $0 * 2
			IntPtrOp $1 $R4 + $1
			IntPtrOp $1 $1 - 2
			System::Call '*$1(&i2 .r2)'
			${If} $2 != 59
				System::Call 'kernel32::lstrcatW(p R4, w ";")'
			${EndIf}
		${EndIf}
		System::Call 'kernel32::lstrcatW(p R4, w "$INSTDIR")'
		WriteRegStr HKCU "${UNINSTALL}" "PathAdded" "$INSTDIR"
	${ElseIf} $R9 == 0
	${AndIf} $R6 == 1
		${If} $R5 P<> $R4
			IntPtrOp $R5 $R5 - 2 ; with the ; before it
		${ElseIf} $1 == 59
			IntPtrOp $R7 $R7 + 2 ; with the one after it
		${EndIf}
		System::Call 'kernel32::lstrlenW(p R7) i .r0'
		IntOp $0 $0 + 1
		IntOp $0 $0 * 2
		System::Call 'kernel32::RtlMoveMemory(p R5, p R7, p r0)'
	${Else}
		System::Free $R4
		Return
	${EndIf}
	System::Call 'kernel32::lstrlenW(p R4) i .r0'
	IntOp $0 $0 + 1
	IntOp $0 $0 * 2
	System::Call 'advapi32::RegSetKeyValueW(p 0x80000001, w "Environment", w "Path", i R1, p R4, i r0)'
	System::Free $R4
	Call ${un}Announce
FunctionEnd

; Announce lets programs that start others, such as Explorer, read the
; environment again. A window that hangs is not waited for.
Function ${un}Announce
	System::Call 'user32::SendMessageTimeoutW(p 0xffff, i 0x1a, p 0, w "Environment", i 2, i 2000, *p .r0)'
FunctionEnd
!macroend
!insertmacro Path ""
!insertmacro Path "un."

; Remove takes the installer's files out of the folder, and the folder if it is
; empty then. A program that a client still runs goes out of the way now, and with
; the next sign-in.
!macro Remove un
Function ${un}Remove
	Delete "$INSTDIR\steward.exe.*.old"
	Delete "$INSTDIR\steward-desktop.exe.*.old"
	System::Call 'kernel32::GetTickCount()i.r0'
	ClearErrors
	Delete "$INSTDIR\steward.exe"
	${If} ${Errors}
		Rename "$INSTDIR\steward.exe" "$INSTDIR\steward.exe.$0.old"
	${EndIf}
	ClearErrors
	Delete "$INSTDIR\steward-desktop.exe"
	${If} ${Errors}
		Rename "$INSTDIR\steward-desktop.exe" "$INSTDIR\steward-desktop.exe.$0.old"
	${EndIf}
	Delete "$INSTDIR\steward.exe.new"
	Delete "$INSTDIR\steward-desktop.exe.new"
	Delete "$INSTDIR\steward-license.txt.new"
	Delete "$INSTDIR\steward-uninstall.exe.new"
	Delete "$INSTDIR\steward-license.txt"
	Delete "$INSTDIR\steward-uninstall.exe"
	RMDir "$INSTDIR"
	${If} ${FileExists} "$INSTDIR\steward*.exe.*.old"
		WriteRegStr HKCU "${RUN_ONCE}" "StewardRemoved" 'cmd.exe /d /c del /f /q "$INSTDIR\steward.exe.*.old" "$INSTDIR\steward-desktop.exe.*.old" & rd "$INSTDIR"'
	${EndIf}
FunctionEnd

; Forget takes the folder out of the path if the installer has put it there.
Function ${un}Forget
	ReadRegStr $0 HKCU "${UNINSTALL}" "PathAdded"
	${If} $0 == $INSTDIR
		StrCpy $R9 0
		Call ${un}Path
		DeleteRegValue HKCU "${UNINSTALL}" "PathAdded"
	${EndIf}
FunctionEnd
!macroend
!insertmacro Remove ""
!insertmacro Remove "un."

; WebView2 is part of Windows 11, and of Windows 10 where Edge is. Elsewhere
; Microsoft's own installer fetches it.
Function WebView2
	SetRegView 64
	ReadRegStr $0 HKLM "SOFTWARE\WOW6432Node\${EDGE}" "pv"
	ReadRegStr $1 HKCU "Software\${EDGE}" "pv"
	SetRegView lastused
	${If} $0 != ""
	${AndIf} $0 != "0.0.0.0"
		Return
	${EndIf}
	${If} $1 != ""
	${AndIf} $1 != "0.0.0.0"
		Return
	${EndIf}
	InitPluginsDir
	File "/oname=$PLUGINSDIR\MicrosoftEdgeWebview2Setup.exe" "${WEBVIEW}"
	ClearErrors
	ExecWait '"$PLUGINSDIR\MicrosoftEdgeWebview2Setup.exe" /silent /install' $0
	${If} ${Errors}
	${OrIf} $0 != 0
		MessageBox MB_OK|MB_ICONINFORMATION "$(NoWebView)" /SD IDOK
	${EndIf}
FunctionEnd

; Plain makes the path $0 a whole one, without the \ that may be behind it.
Function Plain
	System::Call 'kernel32::GetFullPathNameW(w r0, i ${NSIS_MAX_STRLEN}, w .r1, p 0) i .r2'
	${If} $2 == 0
	${OrIf} $2 >= ${NSIS_MAX_STRLEN}
		Return
	${EndIf}
	StrCpy $0 $1
	StrCpy $1 $0 1 -1
	${If} $1 == "\"
	${AndIf} $2 > 3 ; C:\ keeps its own
		StrCpy $0 $0 -1
	${EndIf}
FunctionEnd

Var Before ; the folder of the installation before this one, if it has another name

Section "$(Needed)" program
	SectionIn RO
	ReadRegStr $0 HKCU "${UNINSTALL}" "InstallLocation"
	Call Plain
	${If} $0 != $INSTDIR
		StrCpy $Before $0
	${EndIf}
	Call Stop
	${If} $Before != ""
		!insertmacro In $Before Stop
	${EndIf}
	SetOutPath $INSTDIR
	System::Call 'kernel32::GetFileAttributesW(w "$INSTDIR") i .r0'
	IntOp $1 $0 & 16
	${If} $0 == -1
	${OrIf} $1 == 0
		!insertmacro Fail "$(NoFolder)" $INSTDIR
	${EndIf}
	Delete "$INSTDIR\steward.exe.*.old"
	Delete "$INSTDIR\steward-desktop.exe.*.old"
	SetOverwrite try ; without a question of its own
	!insertmacro Stage steward.exe 'File "/oname=steward.exe.new" "${PROGRAMS}/steward.exe"'
	!insertmacro Stage steward-desktop.exe 'File "/oname=steward-desktop.exe.new" "${PROGRAMS}/steward-desktop.exe"'
	!insertmacro Stage steward-license.txt 'File "/oname=steward-license.txt.new" "${LICENSE}"'
	!insertmacro Stage steward-uninstall.exe 'WriteUninstaller "$INSTDIR\steward-uninstall.exe.new"'
	!insertmacro Replace steward-license.txt
	!insertmacro Replace steward-uninstall.exe
	!insertmacro Put steward.exe "$(NotWritten)"
	!insertmacro Put steward-desktop.exe "$(HalfWritten)"
	SetOverwrite on
	${If} $Before != ""
		; Another name can still lead here: what is written here would be seen there.
		System::Call 'kernel32::GetTickCount()i.r0'
		FileOpen $1 "$INSTDIR\steward.exe.$0.old" w
		FileClose $1
		${If} ${FileExists} "$INSTDIR\steward.exe.$0.old"
		${AndIfNot} ${FileExists} "$Before\steward.exe.$0.old"
			!insertmacro In $Before Remove
		${EndIf}
		Delete "$INSTDIR\steward.exe.*.old"
		!insertmacro In $Before Forget
	${EndIf}
	; A bridge may have started the older one again meanwhile.
	nsExec::Exec /TIMEOUT=30000 '"$INSTDIR\steward.exe" stop'
	Pop $0

	CreateShortcut "$SMPROGRAMS\Steward.lnk" "$INSTDIR\steward-desktop.exe" "" "" "" "" "" "$(Comment)"
	WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "Steward"
	WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "${VERSION}"
	WriteRegStr HKCU "${UNINSTALL}" "DisplayIcon" "$INSTDIR\steward-desktop.exe"
	WriteRegStr HKCU "${UNINSTALL}" "Publisher" "Steward"
	WriteRegStr HKCU "${UNINSTALL}" "InstallLocation" "$INSTDIR"
	WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\steward-uninstall.exe"'
	WriteRegStr HKCU "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\steward-uninstall.exe" /S'
	WriteRegDWORD HKCU "${UNINSTALL}" "NoModify" 1
	WriteRegDWORD HKCU "${UNINSTALL}" "NoRepair" 1
	${GetSize} "$INSTDIR" "/M=steward*.* /S=0K /G=0" $0 $1 $2
	WriteRegDWORD HKCU "${UNINSTALL}" "EstimatedSize" $0
	StrCpy $R9 1
	Call Path
	Call WebView2
SectionEnd

Section /o "$(Autostart)" autostart
	WriteRegStr HKCU "${RUN}" "Steward" '"$INSTDIR\steward-desktop.exe"'
SectionEnd

Section "-"
	${IfNot} ${SectionIsSelected} ${autostart}
		DeleteRegValue HKCU "${RUN}" "Steward"
	${EndIf}
SectionEnd

Function .onInit
	${IfNot} ${AtLeastWin10}
		MessageBox MB_OK|MB_ICONSTOP "$(TooOld)" /SD IDOK
		SetErrorLevel 64
		Quit
	${EndIf}
!if ${ARCH} == "arm64"
	${IfNot} ${IsNativeARM64}
!else
	${IfNot} ${IsNativeAMD64}
	${AndIfNot} ${IsNativeARM64} ; which runs both
!endif
		MessageBox MB_OK|MB_ICONSTOP "$(OtherMachine)" /SD IDOK
		SetErrorLevel 65
		Quit
	${EndIf}
	; Where /D names a file, or no folder that there could be, NSIS takes another one
	; without a word.
	StrCpy $0 $INSTDIR
	Call Plain
	StrCpy $INSTDIR $0
	System::Call 'kernel32::GetCommandLineW() p .r0'
	System::Call 'shlwapi::StrStrW(p r0, w "/D=") p .r0'
	${If} $0 P<> 0
		IntPtrOp $0 $0 + 6
		System::Call 'kernel32::lstrcpynW(w .r0, p r0, i ${NSIS_MAX_STRLEN})'
		Call Plain
		${If} $0 != $INSTDIR
			StrCpy $INSTDIR $0
			!insertmacro Fail "$(NoFolder)" $INSTDIR
		${EndIf}
	${EndIf}
	; What was chosen before, here or in the window, stays chosen.
	ReadRegStr $0 HKCU "${RUN}" "Steward"
	${GetParameters} $1
	ClearErrors
	${GetOptions} $1 "/AUTOSTART" $2
	${IfNot} ${Errors}
	${OrIf} $0 != ""
		!insertmacro SelectSection ${autostart}
	${EndIf}
FunctionEnd

Section "un.Steward"
	Call un.Stop
	SetOutPath $TEMP ; a folder that a program stands in is not removed
	Call un.Remove
	Delete "$SMPROGRAMS\Steward.lnk"
	Delete "$TEMP\steward-*-window" ; by which windows find each other
	DeleteRegValue HKCU "${RUN}" "Steward"
	DeleteRegValue HKCU "${RUN_APPROVED}" "Steward"
	Call un.Forget
	DeleteRegKey HKCU "${UNINSTALL}"

	${If} ${FileExists} "$LOCALAPPDATA\Steward\*.*"
		MessageBox MB_YESNO|MB_ICONQUESTION|MB_DEFBUTTON2 "$(AlsoData)" /SD IDNO IDNO kept
		RMDir /r "$LOCALAPPDATA\Steward"
		kept:
	${EndIf}
SectionEnd

!uninstfinalize '"${SIGN}" "%1"' = 0
