import Model
import Testing

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
}
