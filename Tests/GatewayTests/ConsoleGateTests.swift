import Foundation
import Model
import Testing

@testable import AccountStore
@testable import ConsoleHTTP
@testable import PageParts
@testable import WebConsole

/// The check of who opens each page and sends each form, against the table with which `roles.py` crawls a running console. The controls: consoles from which a
/// check is removed differ from the table.
@Suite struct ConsoleGateTests {
    private typealias Check = (PageMatch, ConsoleCaller) -> ConsoleRefusal?

    /// A page, or with the name of a form that form. The overview has the empty path.
    private struct Place: Hashable {
        var page: String
        var form = ""
    }

    /// A place where a role is answered otherwise than the table says.
    private struct Difference: Hashable {
        var place: Place
        var role: Role
    }

    private static let letters: [Role: Character] = [
        .owner: "o", .op: "p", .author: "a", .analyst: "n", .auditor: "u",
    ]

    private let table: [Place: Set<Role>]

    /// Reads the lists of `rights.py`, which are written by hand: a line has a page, the name of a form, and the letters of its roles.
    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appending(path: "IntegrationTests/Clients/console/rights.py")
        var table: [Place: Set<Role>] = [:]
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            guard let last = words.last, words.count == 2 || words.count == 3,
                last.allSatisfy({ "opanuA".contains($0) })
            else { continue }
            let page = words[0] == "overview" ? "" : words[0]
            let roles = Role.allCases.filter { role in
                // `A`: an author may try, and the call looks whose message it is.
                Self.letters[role].map { last.contains($0) } == true || role == .author && last.contains("A")
            }
            table[Place(page: page, form: words.count == 3 ? words[1] : "")] = Set(roles)
        }
        self.table = table
    }

    private func caller(_ role: Role) -> ConsoleCaller {
        let session = ConsoleSession(
            id: UUID(),
            account: AccountID(UUID()),
            name: "kim",
            roles: [],
            hasCodes: false,
            awaitsCode: false,
            isProven: true
        )
        return ConsoleCaller(
            session: session,
            secret: "secret",
            tenant: "acme",
            account: ConsoleAccount(name: "kim", role: role),
            isMember: true,
            origin: "https://console.example",
            timing: PageTiming()
        )
    }

    /// The differences between the answers of a console with these pages and this check, and the table.
    private func differences(_ pages: [any ConsolePage], by check: Check) throws -> Set<Difference> {
        var found: Set<Difference> = []
        for page in pages {
            for form in [""] + page.forms.map({ $0.name }) {
                let place = Place(page: page.path, form: form)
                let expected = try #require(table[place], "\(place) is not in the table")
                let parts = page.path.split(separator: "/").map { $0.hasPrefix("{") ? "x" : String($0) }
                let segments = form.isEmpty ? parts : parts + [form]
                let match = try #require(PageMatch(segments, pages, isPost: !form.isEmpty), "\(place)")
                for role in Role.allCases {
                    let isOpen = check(match, caller(role)) == nil
                    if isOpen != expected.contains(role) { found.insert(Difference(place: place, role: role)) }
                }
            }
        }
        return found
    }

    private func differences(_ pages: [any ConsolePage]) throws -> Set<Difference> {
        try differences(pages, by: { match, caller in ConsoleResponder.missingRight(match, caller) })
    }

    @Test func pagesAndFormsAreOpenToTheRolesOfTheTable() throws {
        let found = try differences(Pages.all)
        #expect(found.isEmpty, "\(found)")
        let places = Pages.all.flatMap { page in
            [Place(page: page.path)] + page.forms.map { Place(page: page.path, form: $0.name) }
        }
        #expect(Set(places) == Set(table.keys))
    }

    // MARK: Controls

    /// A page without its own check: every role has the permission.
    private struct OpenPage: ConsolePage {
        let page: any ConsolePage
        var permission = Permission.figures
        var forms: [any ConsoleForm]

        var path: String { page.path }
        func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] { page.calls(request, answers) }
        func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
            try page.content(request, answers)
        }
    }

    private struct OpenForm: ConsoleForm {
        let form: any ConsoleForm

        var name: String { form.name }
        var permission: Permission { .figures }
        func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
            form.submit(request, fields, answers)
        }
    }

    @Test func aConsoleThatChecksNothingIsNoticed() throws {
        let refused = table.flatMap { entry in
            Set(Role.allCases).subtracting(entry.value).map { Difference(place: entry.key, role: $0) }
        }
        let found = try differences(Pages.all, by: { _, _ in nil })
        #expect(found == Set(refused))
        #expect(refused.count > 100)
    }

    /// Each page's check is removed by itself: exactly the roles that the table does not have are reported for it.
    @Test func eachRemovedCheckOfAPageIsNoticed() throws {
        var noticed = 0
        for page in Pages.all {
            let open = OpenPage(page: page, forms: page.forms)
            let found = try differences([open]).filter { $0.place.form.isEmpty }
            let place = Place(page: page.path)
            let lacking = Set(Role.allCases).subtracting(table[place] ?? [])
            #expect(found == Set(lacking.map { Difference(place: place, role: $0) }), "\(page.path)")
            noticed += found.isEmpty ? 0 : 1
        }
        #expect(noticed > 20)
    }

    /// Each form's check is removed by itself. Roles that may not open its page are refused by the check of the page.
    @Test func eachRemovedCheckOfAFormIsNoticed() throws {
        var noticed = 0
        for page in Pages.all {
            for form in page.forms {
                var forms = page.forms.filter { $0.name != form.name }
                forms.append(OpenForm(form: form))
                let open = OpenPage(page: page, permission: page.permission, forms: forms)
                let place = Place(page: page.path, form: form.name)
                let opened = (table[Place(page: page.path)] ?? []).subtracting(table[place] ?? [])
                let expected = Set(opened.map { Difference(place: place, role: $0) })
                let found = try differences([open])
                #expect(found == expected, "\(place): \(found)")
                noticed += expected.isEmpty ? 0 : 1
            }
        }
        #expect(noticed > 10)
    }
}
