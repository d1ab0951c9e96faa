import Foundation
import Model
import Testing

@testable import ConsoleAdministration
@testable import ConsoleAudience
@testable import ConsoleDelivery
@testable import ConsoleOperations
@testable import PageParts
@testable import WebConsole

struct PagesTests {
    @Test func everyPathIsUnique() {
        let paths = Pages.all.map(\.path)
        #expect(Set(paths).count == paths.count)
    }

    /// The sections of the sidebar with their targets and lists of pages.
    private static let sections: [(section: MenuEntry.Section, folder: String, pages: [any ConsolePage])] = [
        (.delivery, "Delivery", DeliveryPages.all),
        (.audience, "Audience", AudiencePages.all),
        (.operations, "Operations", OperationsPages.all),
        (.administration, "Administration", AdministrationPages.all),
    ]

    /// A page is one folder below its section and one line of the section's list: what a section's folders declare is listed there, and nothing else is.
    @Test func everyPageOfAFolderIsListed() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/WebConsole/Pages")
        for section in Self.sections {
            let folder = root.appending(path: section.folder)
            let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
            var declared: [String] = []
            while let file = files.nextObject() as? URL {
                guard file.pathExtension == "swift" else { continue }
                let text = try String(contentsOf: file, encoding: .utf8)
                let pages = text.matches(of: /struct ([A-Za-z]+): (?:ConsolePage|ReachPage)\b/).map {
                    String($0.output.1)
                }
                #expect(pages.isEmpty || file.deletingLastPathComponent() != folder, "\(pages) are in no folder")
                declared += pages
            }
            #expect(declared.sorted() == section.pages.map { "\(type(of: $0))" }.sorted(), "\(section.folder)")
        }
    }

    /// A section lists the pages that the sidebar shows in it, and the console has the pages of all sections and the help.
    @Test func everyPageIsListedInItsSection() {
        #expect(Self.sections.map(\.section) == MenuEntry.Section.allCases)
        for section in Self.sections {
            #expect(section.pages.compactMap(\.menu).allSatisfy { $0.section == section.section }, "\(section.folder)")
        }
        #expect(Pages.all.map(\.path) == Self.sections.flatMap { $0.pages.map(\.path) } + ["help"])
    }

    /// The sidebar shows pages in their order, section by section.
    @Test func pagesAreInTheOrderOfTheSidebar() {
        let order = MenuEntry.Section.allCases
        let sections = Pages.all.compactMap { $0.menu?.section }.compactMap { order.firstIndex(of: $0) }
        #expect(sections == sections.sorted() && Set(sections).count == order.count)
        #expect(Pages.all.first?.path == "", "the overview is first")
    }

    @Test func everyKeyAndFormIsUnique() {
        let keys = Pages.all.compactMap { $0.menu?.key }
        #expect(Set(keys).count == keys.count)
        for page in Pages.all {
            let names = page.forms.map(\.name)
            #expect(Set(names).count == names.count, "\(page.path)")
        }
    }

    /// The pages whose viewers share what is written. Written by hand: each is looked at for forms and names in its sentence and its blocks.
    @Test func pagesAreSharedOnPurpose() {
        func paths(_ sharing: UpdateSharing) -> Set<String> {
            Set(Pages.all.filter { $0.sharing == sharing }.map(\.path))
        }
        #expect(
            paths(.page) == ["", "messages", "messages/{message}", "compose/sent/{message}", "live", "nodes"]
        )
        #expect(paths(.answers) == ["approvals"])
    }

    /// The first calls that are made while the choices of the top bar are read are those that the page would name with them, in each zone.
    @Test func firstCallsThatDoNotWaitAreTheRightOnes() {
        var early: Set<String> = []
        for page in Pages.all {
            for query in [[], [PageRequest.Parameter("app", "shop")]] {
                var request = Sample.request(query: query)
                for segment in page.path.split(separator: "/") where segment.hasPrefix("{") {
                    request.path[String(segment.dropFirst().dropLast())] = "id-1"
                }
                var before = request
                before.apps = []
                let first = page.callsInAnyZone(before)
                if first != nil { early.insert(page.path) }
                for zone in ["Asia/Seoul", "America/New_York", "Asia/Kolkata"] {
                    (before.zone, request.zone) = (zone, zone)
                    let calls = page.calls(request, Answers())
                    // Where the address has a zone, all first calls are made early.
                    let named = page.calls(before, Answers())
                    #expect(((first ?? []) + named).allSatisfy { calls.contains($0) }, "\(page.path) in \(zone)")
                }
            }
        }
        // The days of a range begin with those of the zone.
        #expect(early.isDisjoint(with: ["", "failures", "campaigns", "hours"]))
        #expect(early.isSuperset(of: ["keys", "webhooks", "users", "groups", "credentials", "devices/{device}"]))
    }

    /// The pages without an export, and those whose data the native API writes as CSV too. Written by hand.
    @Test func pagesHaveExports() {
        func paths(_ format: FileFormat) -> [String] {
            Pages.all.filter { page in
                var request = Sample.request(query: [.init("app", "shop"), .init("export", "xml")])
                for segment in page.path.split(separator: "/") where segment.hasPrefix("{") {
                    request.path[String(segment.dropFirst().dropLast())] = "id-1"
                }
                return page.export(request, as: format) != nil
            }.map(\.path)
        }
        let without: Set = [
            "accounts", "compose", "compose/sent/{message}", "exports", "help", "live", "routes", "test-devices",
        ]
        #expect(Set(paths(.json)) == Set(Pages.all.map(\.path)).subtracting(without))
        #expect(
            paths(.csv) == ["", "failures", "failures/{reason}", "campaigns", "hours", "groups/{group}", "versions"]
        )
    }

    /// A page without any answer, or with answers that are problems, fails or is shown; it never traps.
    @Test(arguments: Language.allCases) func pagesWithoutAnswersAreShownOrFail(_ language: Language) throws {
        let renderer = try Renderer.bundled(isStrict: true)
        for page in Pages.all {
            for role in Role.allCases {
                var request = Sample.request(language, role: role)
                for segment in page.path.split(separator: "/") where segment.hasPrefix("{") {
                    request.path[String(segment.dropFirst().dropLast())] = "id-1"
                }
                for status in [nil, 200, 404, 503] {
                    var answers = Answers()
                    for call in page.calls(request, Answers()) {
                        answers[call.name] = status.map { APIAnswer(status: $0, body: .null, requestID: "r") }
                    }
                    guard let content = try? page.content(request, answers) else { continue }
                    let html = String(decoding: renderer.page(content, request, path: page.path), as: UTF8.self)
                    #expect(!html.contains(Renderer.faultMark), "\(page.path)")
                    try Wellformed.check(html)
                }
            }
        }
    }
}
