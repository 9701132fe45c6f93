Option Explicit

' Runs inside LibreOffice, called by libreoffice.ts through the pipe of the running instance. Each call reads the file
' "job" of a directory (lines of name=value, UTF-8, no line break at the end) and leaves the file "result" there: a status
' and, on the next line, a detail.
'
' OpenDocument, then StoreDocument or CloseDocument: the caller decides with the page count in hand.

Global opened As Object
Private questions As String

' Opens an empty document that stays open, because LibreOffice ends itself when no document is open. Writing it as DOCX,
' reading that and writing PDF loads ahead what the first document would wait for.
Sub Warm(directory As String)
	Dim arguments(0) As New com.sun.star.beans.PropertyValue
	Dim empty As Object, sample As Object, url As String
	On Error GoTo Failed
	url = ConvertToURL(directory & "/warm")
	SetArgument(arguments(0), "Hidden", True)
	empty = StarDesktop.loadComponentFromURL("private:factory/swriter", "_blank", 0, arguments)
	empty.Text.String = "Warm"
	SetArgument(arguments(0), "FilterName", "MS Word 2007 XML")
	empty.storeToURL(url, arguments)
	SetArgument(arguments(0), "Hidden", True)
	sample = StarDesktop.loadComponentFromURL(url, "_blank", 0, arguments)
	SetArgument(arguments(0), "FilterName", "writer_pdf_Export")
	sample.storeToURL(url, arguments)
	sample.close(True)
	WriteResult(directory, "done", "")
	Exit Sub
Failed:
	WriteResult(directory, "failed", Err & " " & Error$ & " (line " & Erl & ")")
End Sub

Sub OpenDocument(directory As String)
	Dim job
	On Error GoTo Failed
	questions = ""
	job = ReadJob(directory)
	opened = StarDesktop.loadComponentFromURL(Entry(job, "source"), "_blank", 0, LoadArguments(job))
	If IsNull(opened) Then
		WriteResult(directory, "not_loaded", questions)
	ElseIf Not opened.supportsService("com.sun.star.text.TextDocument") Then
		WriteResult(directory, "not_text", questions)
	ElseIf Not ResolveChanges(opened, Entry(job, "changes")) Then
		WriteResult(directory, "changes_remain", "")
	Else
		WriteResult(directory, "done", opened.CurrentController.PageCount)
	End If
	Exit Sub
Failed:
	WriteResult(directory, "failed", Err & " " & Error$ & " (line " & Erl & ") " & questions)
End Sub

Sub StoreDocument(directory As String)
	Dim job
	On Error GoTo Failed
	job = ReadJob(directory)
	opened.storeToURL(Entry(job, "target"), StoreArguments(job))
	WriteResult(directory, "done", "")
	Exit Sub
Failed:
	WriteResult(directory, "failed", Err & " " & Error$ & " (line " & Erl & ")")
End Sub

Sub CloseDocument(directory As String)
	On Error Resume Next
	If Not IsNull(opened) Then opened.close(True)
	opened = Nothing
	WriteResult(directory, "done", "")
End Sub

' False when tracked changes are left that should have been accepted.
Function ResolveChanges(document As Object, changes As String) As Boolean
	Dim key() As Byte
	ResolveChanges = True
	If changes = "show" Then
		document.ShowChanges = True
	ElseIf HasChanges(document) Then
		document.RedlineProtectionKey = key
		Dispatch(document, ".uno:AcceptAllTrackedChanges")
		If HasChanges(document) Then
			' The author has marked the document as read-only.
			Dispatch(document, ".uno:EditDoc")
			Dispatch(document, ".uno:AcceptAllTrackedChanges")
		End If
		ResolveChanges = Not HasChanges(document)
	End If
End Function

Function HasChanges(document As Object) As Boolean
	HasChanges = document.Redlines.createEnumeration().hasMoreElements()
End Function

Sub Dispatch(document As Object, command As String)
	Dim none()
	createUnoService("com.sun.star.frame.DispatchHelper").executeDispatch(document.CurrentController.Frame, command, "", 0, none)
End Sub

' Macros never run, links are never refreshed, nobody is asked anything.
'
' Never AsTemplate and never an InputStream: a document without an address counts as trusted, and its links to pictures
' on the network and on the host's disk are followed in spite of BlockUntrustedRefererLinks (seen with 7.4.7).
Function LoadArguments(job)
	Dim arguments(6) As New com.sun.star.beans.PropertyValue
	SetArgument(arguments(0), "Hidden", True)
	SetArgument(arguments(1), "MacroExecutionMode", com.sun.star.document.MacroExecMode.NEVER_EXECUTE)
	SetArgument(arguments(2), "UpdateDocMode", com.sun.star.document.UpdateDocMode.NO_UPDATE)
	SetArgument(arguments(3), "InteractionHandler", CreateUnoListener("Interaction_", "com.sun.star.task.XInteractionHandler"))
	SetArgument(arguments(4), "FilterName", Entry(job, "filter"))
	SetArgument(arguments(5), "FilterOptions", Entry(job, "filter_options"))
	SetArgument(arguments(6), "Password", Entry(job, "password"))
	LoadArguments = arguments
End Function

Function StoreArguments(job)
	Dim arguments(1) As New com.sun.star.beans.PropertyValue
	Dim options(1) As New com.sun.star.beans.PropertyValue
	SetArgument(options(0), "SelectPdfVersion", CLng(Entry(job, "pdf_version")))
	SetArgument(options(1), "PageRange", Entry(job, "pages"))
	SetArgument(arguments(0), "FilterName", "writer_pdf_Export")
	SetArgument(arguments(1), "FilterData", CreateUnoValue("[]com.sun.star.beans.PropertyValue", options))
	StoreArguments = arguments
End Function

Sub SetArgument(argument, name As String, value)
	argument.Name = name
	argument.Value = value
End Sub

' Notes what LibreOffice wanted to ask: the type of the question tells a missing password from a broken file. Choosing no
' answer ends the load.
Sub Interaction_handle(request)
	Dim question
	question = request.getRequest()
	questions = questions & createUnoService("com.sun.star.reflection.CoreReflection").getType(question).getName() & " "
	On Error Resume Next
	questions = questions & Hex(question.ErrCode) & " "
End Sub

Sub Interaction_disposing(event)
End Sub

Function ReadJob(directory As String)
	Dim stream As Object, entries(), count As Integer
	stream = createUnoService("com.sun.star.io.TextInputStream")
	stream.setInputStream(createUnoService("com.sun.star.ucb.SimpleFileAccess").openFileRead(ConvertToURL(directory & "/job")))
	stream.setEncoding("UTF-8")
	While Not stream.isEOF()
		ReDim Preserve entries(count)
		entries(count) = stream.readLine()
		count = count + 1
	Wend
	stream.closeInput()
	ReadJob = entries
End Function

Function Entry(job, name As String) As String
	Dim i As Integer
	For i = 0 To UBound(job)
		If Left(job(i), Len(name) + 1) = name & "=" Then Entry = Mid(job(i), Len(name) + 2)
	Next i
End Function

Sub WriteResult(directory As String, status As String, detail)
	Dim file As Integer
	file = FreeFile
	Open directory & "/result" For Output As #file
	Print #file, status
	Print #file, CStr(detail)
	Close #file
End Sub
