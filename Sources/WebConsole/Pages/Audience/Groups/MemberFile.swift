import DeviceFiles
import Model
import PageParts

/// The users of a table of members in CSV, as the native API writes one. Columns other than that of the users are ignored.
enum MemberFile {
    static let column = "user"

    enum Fault: Error, Hashable {
        /// The first line names no column of users.
        case noColumn
        case tooMany
        case unreadable(line: Int)
        case withoutUser(line: Int)

        var text: Text {
            switch self {
            case .noColumn: GroupsText.noColumn
            case .tooMany: GroupsText.tooMany
            case .unreadable(let line): GroupsText.unreadable(line)
            case .withoutUser(let line): GroupsText.withoutUser(line)
            }
        }
    }

    static func users(_ bytes: [UInt8]) throws(Fault) -> [String] {
        // Spreadsheets write a byte order mark.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        var splitter = RecordSplitter(quotes: true)
        var records = splitter.feed(bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...])
        if let last = splitter.finish() { records.append(last) }
        guard let heading = records.first else { throw .noColumn }
        let columns = try cells(heading)
        guard let place = columns.firstIndex(of: column) else { throw .noColumn }
        guard records.count - 1 <= GroupForms.userLimit else { throw .tooMany }
        var users: [String] = []
        for record in records.dropFirst() {
            let cells = try cells(record)
            // A lone quotation mark in a cell joins its line with the next ones, whose users would be left out.
            guard cells.count <= columns.count else { throw .unreadable(line: record.line) }
            guard cells.indices.contains(place), !cells[place].isEmpty else { throw .withoutUser(line: record.line) }
            users.append(cells[place])
        }
        return users
    }

    private static func cells(_ record: RecordSplitter.Record) throws(Fault) -> [String] {
        guard let bytes = record.bytes, let cells = try? CSV.fields(bytes) else {
            throw .unreadable(line: record.line)
        }
        return cells.map { CSV.original($0.trimmed) }
    }
}

/// Adds or removes the users of a file.
struct UploadMembersForm: ConsoleForm {
    let name = "upload"
    let permission = Permission.send
    let bodyLimitBytes = MembersForm.limitBytes

    static let fieldNames: Set<String> = ["file", "act"]

    private enum Act: String, CaseIterable {
        case add, remove

        var label: Text { self == .add ? GroupsText.addThem : GroupsText.removeThem }
    }

    static func view(_ name: String, _ hidden: [FormView.Field], _ words: Words) -> FormView {
        let acts = Act.allCases.map { Filter.Option(value: $0.rawValue, label: words($0.label)) }
        let fields: [FormView.Field] = [
            .init(
                name: "file",
                label: words(GroupsText.file),
                kind: .file(accept: ".csv,text/csv"),
                hint: words(GroupsText.fileHint),
                isRequired: true
            ),
            .init(name: "act", label: words(GroupsText.act), kind: .radio(acts), value: Act.add.rawValue),
        ]
        return FormView(
            path: Link.path("groups", name, "upload"),
            fields: hidden + fields,
            submit: words(GroupsText.upload),
            isMultipart: true
        )
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        func invalid(_ text: Text) -> FormStep { .invalid(FieldErrors(["file": text(request.language)])) }
        guard let bytes = fields.file("file"), !bytes.isEmpty else { return invalid(GroupsText.noFile) }
        let users: [String]
        do { users = try MemberFile.users(bytes) } catch { return invalid(error.text) }
        guard !users.isEmpty else { return invalid(GroupsText.nobodyInFile) }
        let isRemoval = fields["act"] == Act.remove.rawValue
        return MembersForm.step(request, fields, add: isRemoval ? [] : users, remove: isRemoval ? users : [])
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        answer.isSuccess
            ? MembersForm().result(request, fields, answer) : .invalid(FieldErrors(answer).gathered(at: "file"))
    }
}
