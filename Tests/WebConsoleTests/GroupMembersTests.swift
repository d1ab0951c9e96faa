import Model
import Testing

@testable import ConsoleAudience
@testable import PageParts
@testable import WebConsole

/// The members of a group, with what is known about their users, as a table and as a file.
struct GroupMembersTests {
    private static let members: [JSON] = [
        ["user": "u-1", "name": "Kim", "phone": "821012345678", "registered": true],
        ["user": "u-2", "name": .null, "phone": .null, "registered": false],
    ]

    private func table(_ role: Role, _ language: Language = .en) throws -> Table {
        let bodies: [String: JSON] = [
            "apps": ["apps": [["app": "shop"]]], "group": ["group": "vip", "members": 2],
            "members": ["members": .array(Self.members), "next": .null],
        ]
        let content = try ReadPages.content(
            GroupPage(),
            ReadPages.request(["group": "vip"], role: role, language),
            bodies
        )
        return try #require(ReadPages.tables(content).first)
    }

    private func texts(_ row: Table.Row) -> [String] {
        row.cells.compactMap { cell -> String? in
            switch cell {
            case .link(let link): link.label
            case .text(let text), .tag(_, let text): text
            default: nil
            }
        }
    }

    @Test func membersHaveTheFactsOfTheirUsers() throws {
        #expect(try table(.owner).columns.map(\.label) == ["User", "Phone", "Name", "App", "Actions"])
        #expect(
            try table(.owner).rows.map(texts) == [
                ["u-1", "821012345678", "Kim", "Registered"], ["u-2", "–", "–", "Not registered"],
            ]
        )
        #expect(try table(.owner, .ko).rows.map(texts).last == ["u-2", "–", "–", "등록 안 됨"])
    }

    /// The user of a masked row is a mask, which no button may send. Such a person changes the group by the form.
    @Test func onlyThoseWhoSeeNamesRemoveARow() throws {
        for role in Role.allCases {
            let sees = [.owner, .op].contains(role)
            #expect(try table(role).columns.count == (sees ? 5 : 4), "\(role)")
            #expect(try table(role).rows.allSatisfy { $0.cells.count == (sees ? 5 : 4) }, "\(role)")
        }
    }

    @Test func theTableIsAFile() throws {
        let request = ReadPages.request(["group": "vip"], ["app": "shop", "after": "u-1"])
        let shown = try #require(GroupPage().export(request, as: .json))
        #expect(ReadPages.value("limit", shown) == "50" && ReadPages.value("format", shown) == nil)
        let file = try #require(GroupPage().export(request, as: .csv))
        #expect(file.path == "apps/shop/groups/vip/members" && ReadPages.value("after", file) == "u-1")
        #expect(ReadPages.value("limit", file) == "1000" && ReadPages.value("format", file) == "csv")
    }

    // MARK: Uploads

    private func step(_ text: String, _ act: String? = nil) -> FormStep {
        var fields = [FormFields.Field("app", .text("shop")), .init("vendor", .text("native"))]
        fields.append(.init("file", .file(name: "members.csv", bytes: Array(text.utf8))))
        if let act { fields.append(.init("act", .text(act))) }
        return UploadMembersForm().submit(ReadPages.request(["group": "vip"]), FormFields(fields), Answers())
    }

    @Test func aFileAddsOrRemovesItsUsers() throws {
        // A byte order mark, other columns, quotes, a cell that a spreadsheet would run, and no end of the last line.
        let file = "\u{FEFF}phone,user,name\r\n8210,u-1,Kim\r\n,\"u,2\",\"a\nb\"\r\n,'=u3,"
        let call = try #require(step(file).call)
        #expect(call.path == "apps/shop/groups/vip/members" && call.method == .post)
        #expect(call.body == ["add": ["u-1", "u,2", "=u3"], "remove": []])
        #expect(step(file, "remove").call?.body == ["add": [], "remove": ["u-1", "u,2", "=u3"]])
    }

    @Test(
        arguments: [
            ("", GroupsText.noFile), ("\n\n", GroupsText.noColumn), ("users\nu-1\n", GroupsText.noColumn),
            ("user\n", GroupsText.nobodyInFile), ("user,name\nu-1,x\n,Kim\n", GroupsText.withoutUser(3)),
            ("user,name\nu-1,5\" TV\nu-2,6\" TV\n", GroupsText.unreadable(2)),
            ("name,user\nx\n", GroupsText.withoutUser(2)), ("user\n\"u-1\"x\n", GroupsText.unreadable(2)),
            ("user\n" + String(repeating: "x", count: 70_000), GroupsText.unreadable(2)),
            ("user\n" + String(repeating: "u\n", count: 1001), GroupsText.tooMany),
        ]
    )
    func anUnreadableFileChangesNothing(_ file: String, _ text: Text) {
        #expect(step(file).errors == ["file": text.en])
    }

    @Test func theLargestFileIsOneCall() {
        let file = "user\n" + (1...1000).map { "u-\($0)\n" }.joined()
        #expect(step(file).call?.body?["add"]?.array?.count == 1000)
    }

    /// The API names the place in the list; the form has one field.
    @Test func aRefusedUserIsShownAtTheFile() {
        let answer = ReadPages.problem(422, "PG-1002", "add[3]: at most 256 bytes")
        let result = UploadMembersForm().result(ReadPages.request(["group": "vip"]), FormFields([]), answer)
        #expect(result.errors == ["file": "add[3]: at most 256 bytes"])
    }
}
