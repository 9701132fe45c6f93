Option Explicit

' Runs inside LibreOffice, called by libreoffice.ts through the pipe of the running instance. Each call reads the file
' "job" of a directory (lines of name=value, UTF-8, no line break at the end) and leaves the file "result" there: a status
' and, on the next line, a detail.
'
' OpenDocument, then StoreDocument or CloseDocument: the caller decides with the number of pages, or the names of the
' sheets, in hand. ArrangeSheets may come between.
'
' Writer dies of the comments of a document as soon as it turns to its own events: their windows are drawn from a file
' that the packages without a desktop lack. So no event is handled within OpenDocument, and comments are gone when it
' ends. What is to be written with them is written by it.

Global opened As Object
Private questions As String

' Opens an empty document that stays open, because LibreOffice ends itself when no document is open. Writing it in the
' format of its kind, reading that and writing PDF loads ahead what the first document would wait for.
Sub Warm(directory As String)
	Dim arguments(0) As New com.sun.star.beans.PropertyValue
	Dim empty As Object, sample As Object, url As String, job
	On Error GoTo Failed
	job = ReadJob(directory)
	url = ConvertToURL(directory & "/warm")
	SetArgument(arguments(0), "Hidden", True)
	empty = StarDesktop.loadComponentFromURL(Entry(job, "factory"), "_blank", 0, arguments)
	If Entry(job, "filter") <> "" Then
		SetArgument(arguments(0), "FilterName", Entry(job, "filter"))
		empty.storeToURL(url, arguments)
		SetArgument(arguments(0), "Hidden", True)
		sample = StarDesktop.loadComponentFromURL(url, "_blank", 0, arguments)
		SetArgument(arguments(0), "FilterName", Entry(job, "pdf_filter"))
		sample.storeToURL(url, arguments)
		sample.close(True)
	End If
	WriteResult(directory, "done", "")
	Exit Sub
Failed:
	WriteResult(directory, "failed", Err & " " & Error$ & " (line " & Erl & ")")
End Sub

Sub OpenDocument(directory As String)
	Dim job, facts As String
	On Error GoTo Failed
	EnableReschedule(False)
	questions = ""
	job = ReadJob(directory)
	opened = StarDesktop.loadComponentFromURL(Entry(job, "source"), "_blank", 0, LoadArguments(job))
	If Entry(job, "store_target") = "" Then DropComments(opened)
	If IsNull(opened) Then
		WriteResult(directory, "not_loaded", questions)
	ElseIf Not opened.supportsService(Entry(job, "service")) Or UsedFilter(opened) <> Entry(job, "filter") Then
		DropComments(opened)
		WriteResult(directory, "other_kind", questions)
	ElseIf Not ResolveChanges(opened, Entry(job, "changes")) Then
		DropComments(opened)
		WriteResult(directory, "changes_remain", "")
	Else
		If Entry(job, "update_indexes") = "true" Then UpdateIndexes(opened)
		If Entry(job, "store_target") <> "" Then
			opened.storeToURL(Entry(job, "store_target"), StoreArguments(job))
			DropComments(opened)
		End If
		WriteResult(directory, "done", Description(opened))
	End If
	Exit Sub
Failed:
	facts = Err & " " & Error$ & " (line " & Erl & ") " & questions
	DropComments(opened)
	WriteResult(directory, "failed", facts)
End Sub

' Also where changes are tracked: there a comment that is removed would stay as a removed one.
Sub DropComments(document As Object)
	Dim fields As Object, field As Object, key() As Byte
	On Error Resume Next
	If Not document.supportsService("com.sun.star.text.TextDocument") Then Exit Sub
	document.RedlineProtectionKey = key
	document.RecordChanges = False
	fields = document.TextFields.createEnumeration()
	Do While fields.hasMoreElements()
		field = fields.nextElement()
		If field.supportsService("com.sun.star.text.textfield.Annotation") Then field.dispose()
	Loop
End Sub

' The import filter that read a document.
Function UsedFilter(document As Object) As String
	Dim arguments, i As Integer
	arguments = document.Args
	For i = 0 To UBound(arguments)
		If arguments(i).Name = "FilterName" Then UsedFilter = arguments(i).Value
	Next i
End Function

' Prepares chosen sheets (0-based, "sheets") to be printed alone, and says how many pages they make. The others are hidden:
' removed, they would break the formulas that refer to them.
Sub ArrangeSheets(directory As String)
	Dim job, chosen, sheets As Object, sheet As Object, i As Long
	Dim none() As New com.sun.star.beans.PropertyValue
	Dim filled As Boolean
	On Error GoTo Failed
	job = ReadJob(directory)
	sheets = opened.Sheets
	chosen = Split(Entry(job, "sheets"), ",")
	If opened.isProtected() Then opened.unprotect("")
	For i = 0 To UBound(chosen)
		sheet = sheets.getByIndex(CLng(chosen(i)))
		sheet.IsVisible = True
		If IsFilled(sheet) Then filled = True
		ArrangeSheet(sheet, job)
	Next i
	For i = 0 To sheets.Count - 1
		If InStr("," & Entry(job, "sheets") & ",", "," & i & ",") = 0 Then sheets.getByIndex(i).IsVisible = False
	Next i
	WriteResult(directory, "done", IIf(filled, CStr(opened.getRendererCount(opened, none)), "0"))
	Exit Sub
Failed:
	WriteResult(directory, "failed", Err & " " & Error$ & " (line " & Erl & ")")
End Sub

' Whether a sheet has anything to show: the empty ones of an empty workbook would still make a page.
Function IsFilled(sheet As Object) As Boolean
	Dim kinds As Integer
	kinds = com.sun.star.sheet.CellFlags.VALUE Or com.sun.star.sheet.CellFlags.DATETIME
	kinds = kinds Or com.sun.star.sheet.CellFlags.STRING Or com.sun.star.sheet.CellFlags.FORMULA
	IsFilled = sheet.DrawPage.Count > 0 Or sheet.queryContentCells(kinds).Count > 0
End Function

Sub ArrangeSheet(sheet As Object, job)
	Dim style As Object, i As Long, columns, page As Object
	columns = Split(Entry(job, "right_aligned"), ",")
	For i = 0 To UBound(columns)
		sheet.Columns.getByIndex(CLng(columns(i))).HoriJustify = com.sun.star.table.CellHoriJustify.RIGHT
	Next i
	style = OwnPageStyle(sheet)
	If Entry(job, "bare") = "true" Then
		style.HeaderIsOn = False
		style.FooterIsOn = False
	End If
	If Entry(job, "gridlines") = "true" Then style.PrintGrid = True
	Select Case Entry(job, "orientation")
		Case "portrait": Turn(style, False)
		Case "landscape": Turn(style, True)
		Case Else
			If Not style.IsLandscape And PrintedWidth(sheet) > style.Width - style.LeftMargin - style.RightMargin Then Turn(style, True)
	End Select
	If Entry(job, "fit_to_width") = "true" Then
		style.ScaleToPagesX = 1
		style.ScaleToPagesY = 0
	End If
End Sub

' Sheets may share a page style; each gets a copy of it, so that one can be turned without the other.
Function OwnPageStyle(sheet As Object) As Object
	Dim styles As Object, original As Object, copy As Object, properties, i As Integer, name As String
	styles = opened.StyleFamilies.getByName("PageStyles")
	original = styles.getByName(sheet.PageStyle)
	name = "Millrun " & styles.Count
	styles.insertByName(name, opened.createInstance("com.sun.star.style.PageStyle"))
	copy = styles.getByName(name)
	properties = original.PropertySetInfo.Properties
	For i = 0 To UBound(properties)
		CopyProperty(original, copy, properties(i).Name)
	Next i
	sheet.PageStyle = name
	OwnPageStyle = copy
End Function

' Some cannot be set, or not before others: those stay as they are in every style.
Sub CopyProperty(original As Object, copy As Object, name As String)
	On Error Resume Next
	copy.setPropertyValue(name, original.getPropertyValue(name))
End Sub

Sub Turn(style As Object, landscape As Boolean)
	Dim width As Long
	If landscape <> (style.Width > style.Height) Then
		width = style.Width
		style.Width = style.Height
		style.Height = width
	End If
	style.IsLandscape = landscape
End Sub

' The width of what a sheet prints, in 1/100 mm: its print areas, or its cells and drawings.
Function PrintedWidth(sheet As Object) As Long
	Dim cursor As Object, areas, shape As Object, i As Long
	areas = sheet.getPrintAreas()
	For i = 0 To UBound(areas)
		PrintedWidth = Larger(PrintedWidth, sheet.getCellRangeByPosition(areas(i).StartColumn, 0, areas(i).EndColumn, 0).Size.Width)
	Next i
	If UBound(areas) >= 0 Then Exit Function
	cursor = sheet.createCursor()
	cursor.gotoEndOfUsedArea(False)
	PrintedWidth = sheet.getCellRangeByPosition(0, 0, cursor.RangeAddress.EndColumn, 0).Size.Width
	For i = 0 To sheet.DrawPage.Count - 1
		shape = sheet.DrawPage.getByIndex(i)
		PrintedWidth = Larger(PrintedWidth, shape.Position.X + shape.Size.Width)
	Next i
End Function

Function Larger(a As Long, b As Long) As Long
	Larger = IIf(a > b, a, b)
End Function

Sub StoreDocument(directory As String)
	Dim job
	On Error GoTo Failed
	job = ReadJob(directory)
	opened.storeToURL(Entry(job, "store_target"), StoreArguments(job))
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

' The number of pages, or one line for each sheet or slide: 1 or 0 for shown or hidden, and its name.
Function Description(document As Object) As String
	Dim lines As String, i As Long, slide As Object
	If document.supportsService("com.sun.star.text.TextDocument") Then
		lines = document.CurrentController.PageCount & Chr(10)
	ElseIf document.supportsService("com.sun.star.sheet.SpreadsheetDocument") Then
		For i = 0 To document.Sheets.Count - 1
			slide = document.Sheets.getByIndex(i)
			lines = lines & PartLine(slide.IsVisible, slide.Name)
		Next i
	Else
		For i = 0 To document.DrawPages.Count - 1
			slide = document.DrawPages.getByIndex(i)
			lines = lines & PartLine(IsShown(slide), slide.Name)
		Next i
	End If
	Description = lines
End Function

Function PartLine(shown As Boolean, name As String) As String
	PartLine = IIf(shown, "1 ", "0 ") & Join(Split(name, Chr(10)), " ") & Chr(10)
End Function

' The pages of a drawing have no such property.
Function IsShown(slide As Object) As Boolean
	IsShown = True
	On Error Resume Next
	IsShown = slide.Visible
End Function

' False when tracked changes are left that should have been accepted.
Function ResolveChanges(document As Object, changes As String) As Boolean
	Dim key() As Byte
	ResolveChanges = True
	If changes = "" Then Exit Function
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

Sub UpdateIndexes(document As Object)
	Dim i As Integer
	For i = 0 To document.DocumentIndexes.Count - 1
		document.DocumentIndexes.getByIndex(i).update()
	Next i
End Sub

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
	SetArgument(arguments(6), "Hidden", True)
	SetArgument(arguments(0), "Hidden", True)
	SetArgument(arguments(1), "MacroExecutionMode", com.sun.star.document.MacroExecMode.NEVER_EXECUTE)
	SetArgument(arguments(2), "UpdateDocMode", com.sun.star.document.UpdateDocMode.NO_UPDATE)
	SetArgument(arguments(3), "InteractionHandler", CreateUnoListener("Interaction_", "com.sun.star.task.XInteractionHandler"))
	' What a locked file holds shows only after unlocking: its filter is found by LibreOffice and compared afterwards. Any
	' other file is read by the filter that is asked for.
	SetArgument(arguments(4), "FilterName", IIf(Entry(job, "locked") = "true", "", Entry(job, "filter")))
	SetArgument(arguments(5), "FilterOptions", Entry(job, "filter_options"))
	' An empty password would lock an OpenDocument file that is written from this document, and fail.
	If Entry(job, "password") <> "" Then SetArgument(arguments(6), "Password", Entry(job, "password"))
	LoadArguments = arguments
End Function

' Options of a filter come as lines "data.<Name>=<type>:<value>".
Function StoreArguments(job)
	Dim arguments(2) As New com.sun.star.beans.PropertyValue
	Dim i As Integer, count As Integer, cut As Integer
	SetArgument(arguments(0), "FilterName", Entry(job, "store_filter"))
	SetArgument(arguments(1), "FilterOptions", Entry(job, "store_filter_options"))
	SetArgument(arguments(2), "Overwrite", True)
	For i = 0 To UBound(job)
		If Left(job(i), 5) = "data." Then count = count + 1
	Next i
	If count > 0 Then
		Dim options(count - 1) As New com.sun.star.beans.PropertyValue
		For i = UBound(job) To 0 Step -1
			If Left(job(i), 5) = "data." Then
				count = count - 1
				cut = InStr(job(i), "=")
				SetArgument(options(count), Mid(job(i), 6, cut - 6), TypedValue(Mid(job(i), cut + 1)))
			End If
		Next i
		SetArgument(arguments(2), "FilterData", CreateUnoValue("[]com.sun.star.beans.PropertyValue", options))
	End If
	StoreArguments = arguments
End Function

Function TypedValue(text As String)
	Dim value As String
	value = Mid(text, 3)
	Select Case Left(text, 1)
		Case "b": TypedValue = (value = "true")
		Case "n": TypedValue = CLng(value)
		Case Else: TypedValue = value
	End Select
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
	Dim stream As Object, files As Object
	files = createUnoService("com.sun.star.ucb.SimpleFileAccess")
	stream = createUnoService("com.sun.star.io.TextOutputStream")
	stream.setOutputStream(files.openFileWrite(ConvertToURL(directory & "/result")))
	stream.setEncoding("UTF-8")
	stream.writeString(status & Chr(10) & CStr(detail) & Chr(10))
	stream.closeOutput()
End Sub
