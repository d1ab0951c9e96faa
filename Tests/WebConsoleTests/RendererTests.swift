import Foundation
import Model
import Testing

@testable import PageParts
@testable import WebConsole

struct RendererTests {
    private let renderer: Renderer

    init() throws {
        renderer = try Renderer.bundled(isStrict: true)
    }

    private func html(_ content: PageContent, _ request: PageRequest, path: String = "messages") -> String {
        String(decoding: renderer.page(content, request, path: path), as: UTF8.self)
    }

    private func full(_ language: Language, _ text: String) -> String {
        var request = Sample.request(language, query: [.init("sort", text), .init("app", "shop"), .init("after", "x")])
        request.theme = "dark"
        request.notice = text
        request.secret = .init(title: Text(ko: text, en: text), value: text)
        request.errors = FieldErrors(["": text, "text": text, "unknown": text])
        return html(Sample.content(text), request)
    }

    @Test(arguments: Language.allCases)
    func everyPartIsRenderedWithoutAFault(_ language: Language) throws {
        let page = full(language, "Word")
        #expect(!page.contains(Renderer.faultMark))
        #expect(!page.contains("{{"))
        try Wellformed.check(page)
    }

    /// A frame is written while the answers for the content are awaited.
    @Test(arguments: Language.allCases)
    func aFrameOfBeforeIsThatOfThePage(_ language: Language) {
        var request = Sample.request(language, query: [.init("app", "shop"), .init("sort", "name")])
        request.theme = "dark"
        let content = Sample.content("Word")
        func page(_ frame: PageFrame?) -> [UInt8] { renderer.page(content, request, path: "messages", in: frame) }
        #expect(page(renderer.frame(request, path: "messages")) == page(nil))
        #expect(page(renderer.frame(request, path: "failures")) != page(nil), "the control: the menu of another page")
    }

    @Test(arguments: Sample.hostile)
    func hostileTextStaysText(_ text: String) throws {
        let tags = try Wellformed.check(full(.en, String(repeating: "W", count: text.count)))
        let found = try Wellformed.check(full(.en, text))
        // The same elements and attributes as with a harmless text of the same length: nothing of it became markup.
        #expect(found == tags)
    }

    /// The control of the test above: a template that writes an unescaped text changes the elements.
    @Test func rawMarkupWouldBeFound() throws {
        let harmless = try Wellformed.check("<p title=\"a\">a</p>")
        #expect(throws: (any Error).self) {
            try Wellformed.check("<p title=\"\" onfocus=\"alert(1)\" x=\"\">a</b></p>")
        }
        #expect(try Wellformed.check("<p title=\"\" onfocus=\"a\">a</p>") != harmless)
    }

    @Test func aMissingFieldIsAFault() throws {
        let files = try ConsoleFiles.bundled()
        var broken = files
        broken.templates["text"] = "<p>{{text}}{{caption}}</p>"
        let strict = try Renderer(broken, isStrict: true)
        #expect(
            strict.markup("text", .fields(["text": "a"])).html.contains("\(Renderer.faultMark)text: caption is missing")
        )
        // A section that is not entered is checked too.
        broken.templates["text"] = "<p>{{#text}}{{/text}}{{#isOn}}{{label}}{{/isOn}}</p>"
        let view = View.fields(["text": "a", "isOn": .flag(false)])
        #expect(try Renderer(broken, isStrict: true).markup("text", view).html.contains("label is missing"))
        // A name of the view around is not found.
        broken.templates["text"] = "{{#inner}}{{text}}{{/inner}}"
        let nested = View.fields(["text": "outer", "inner": .fields(["other": "a"])])
        #expect(try Renderer(broken, isStrict: true).markup("text", nested).html.contains("text is missing"))
        #expect(!(try Renderer(broken).markup("text", nested).html.contains("outer")))
    }

    @Test func anUnknownTemplateIsAFault() {
        #expect(renderer.markup("absent", .fields([:])).html.contains(Renderer.faultMark))
    }

    @Test func brokenTemplatesAreRefused() throws {
        var files = try ConsoleFiles.bundled()
        files.templates["text"] = "{{#open}}"
        #expect(throws: ConsoleFilesError.self) { try Renderer(files) }
    }

    @Test func noInlineScriptOrStyle() {
        let page = full(.en, "Word")
        #expect(!page.contains(" style="))
        #expect(!page.contains("<style"))
        #expect(!page.contains(" onclick") && !page.contains("javascript:"))
        for script in page.split(separator: "<script").dropFirst() {
            #expect(script.hasPrefix(" type=\"module\" src=\"/assets/"))
        }
    }

    @Test func idsAreUnique() {
        let page = full(.en, "Word")
        let ids = page.split(separator: " id=\"").dropFirst().map { String($0.prefix { $0 != "\"" }) }
        #expect(Set(ids).count == ids.count, "\(Dictionary(grouping: ids) { $0 }.filter { $0.value.count > 1 }.keys)")
        // The description of a field exists.
        for name in page.split(separator: "aria-describedby=\"").dropFirst() {
            for id in name.prefix(while: { $0 != "\"" }).split(separator: " ") { #expect(ids.contains(String(id))) }
        }
    }

    // MARK: Outlines

    @Test(arguments: Language.allCases)
    func pagesDoNotDependOnThoseBefore(_ language: Language) throws {
        let first = full(language, "Word")
        let second = full(language, "<Other>")
        #expect(full(language, "Word") == first)
        // Made by a renderer that has written nothing before.
        #expect(try RendererTests().full(language, "<Other>") == second)
    }

    @Test func viewsOfOneShapeDifferInTheirTexts() {
        func facts(_ text: String, isMono: Bool, link: View) -> String {
            let fact = View.fields(["label": .text(text), "value": "b", "isMono": .flag(isMono), "link": link])
            return renderer.markup("facts", .fields(["facts": .list([fact])])).html
        }
        let plain = "<dl class=\"facts\"><div><dt>a</dt><dd>b</dd></div></dl>"
        let other = "<dl class=\"facts\"><div><dt>&lt;</dt><dd>b</dd></div></dl>"
        let mono = "<dl class=\"facts\"><div><dt></dt><dd class=\"mono\"><a href=\"c\">b</a></dd></div></dl>"
        #expect(facts("a", isMono: false, link: .none) == plain)
        #expect(facts("<", isMono: false, link: .none) == other)
        #expect(facts("", isMono: true, link: .fields(["href": "c"])) == mono)
        #expect(facts("a", isMono: false, link: .none) == plain)
    }

    @Test func aTextLikeAMarkStaysText() {
        let text = "\u{FFFF}1\u{FFFF}{{text}}\u{FFFF}"
        #expect(renderer.markup("text", .fields(["text": .text(text)])).html == "<p class=\"prose\">\(text)</p>")
    }

    @Test func outlinesAreDroppedBeforeTheyNeedMoreThanTheLimit() {
        let outlines = Outlines(limitBytes: 1000)
        var made: [Int] = []
        func ask(_ number: Int) {
            _ = outlines.outline("\(number)") {
                made.append(number)
                return Outline(String(repeating: "a", count: 100))
            }
        }
        for number in 0..<100 {
            ask(number)
            // It is kept.
            ask(number)
        }
        #expect(made == Array(0..<100))
        ask(0)
        #expect(made.count == 101)
    }

    // MARK: Cells

    @Test func cellsHaveTheLabelsOfTheirColumns() {
        func row(_ cells: Table.Cell...) -> String {
            let columns = [Table.Column(label: "<A>"), Table.Column(label: "B", isNumber: true)]
            let table = Table(caption: "T", columns: columns, rows: [Table.Row(cells: cells, id: "1")])
            let content = PageContent(title: "T", sentence: Sentence(text: "S"), blocks: [Block(body: [.table(table)])])
            return html(content, Sample.request())
        }
        #expect(
            row(.text("x&"), .none, .strong("z")).contains(
                "<tr data-row=\"1\"><td data-label=\"&lt;A&gt;\"><div class=\"cell\"><span>x&amp;</span></div></td>"
                    + "<td data-label=\"B\" class=\"num\"><div class=\"cell\"><span class=\"muted\">–</span></div></td>"
                    + "<td data-label=\"\"><div class=\"cell\"><span class=\"strong\">z</span></div></td></tr>"
            )
        )
        // A character has up to four bytes, and more with its marks.
        #expect(row(.text(String(repeating: "가", count: 160))).contains("<span>가"))
        #expect(row(.text(String(repeating: "가", count: 161))).contains("<span class=\"clip\" tabindex=\"0\">가"))
        #expect(row(.tag(.ok, "t")).contains("<span class=\"tag ok\">t</span>"))
    }

    // MARK: Addresses

    @Test func linksStayBelowTheTenantAndKeepTheRange() {
        let request = Sample.request(query: [.init("app", "shop"), .init("range", "30d"), .init("state", "sent")])
        let place = WritingPlace(request, path: "messages")
        #expect(place.href(Link("", "messages/1")) == "/t/acme/messages/1?app=shop&range=30d")
        #expect(place.href(Link("", "messages", [.init("app", "bank")])) == "/t/acme/messages?app=bank&range=30d")
        #expect(place.href(Link("", "messages", [.init("app", "")])) == "/t/acme/messages?range=30d")
        #expect(place.href(Link("", "//evil.example")) == "/t/acme/evil.example?app=shop&range=30d")
        #expect(place.href(Link("", "a b\"?x=1#y")).hasPrefix("/t/acme/a%20b%22%3fx%3d1%23y?"))
        #expect(place.href(changing: [.init("state", "")]) == "/t/acme/messages?app=shop&range=30d")
    }

    @Test func aTenantIsCoded() {
        #expect(ConsolePaths.tenant("a/b ") == "/t/a%2fb%20/")
    }

    // MARK: Forms

    @Test func typedInputIsKeptWithItsErrors() throws {
        var request = Sample.request()
        request.typed = FormFields([
            .init("text", .text("typed <b>")), .init("password", .text("hunter2")), .init("radio", .text("b")),
            .init(FormNames.form, .text("messages/1/edit")), .init("secret", .text("forged")),
        ])
        request.errors = FieldErrors(["text": "too long", "": "not sent"])
        let content = PageContent(
            title: "T",
            sentence: Sentence(text: "S"),
            blocks: [Block(body: [.form(Sample.form("Old"))])]
        )
        let page = html(content, request)
        #expect(page.contains("value=\"typed &lt;b&gt;\""))
        #expect(page.contains("too long") && page.contains("not sent"))
        #expect(page.contains("aria-invalid=\"true\""))
        #expect(!page.contains("hunter2"))
        // A hidden field is the page's decision.
        #expect(!page.contains("forged"))
        #expect(page.contains("value=\"b\" checked"))
        // The checkbox was not sent, so it is off.
        #expect(page.contains("<input type=\"checkbox\" id=\"block-0-0-6\" name=\"check\" value=\"on\" aria-"))
        // Another form of the page keeps its values.
        request.typed = FormFields([.init(FormNames.form, .text("elsewhere")), .init("text", .text("typed"))])
        #expect(!html(content, request).contains("typed"))
    }

    @Test(arguments: zip(Language.allCases, ["바이트", "bytes"]))
    func aLimitHasItsUnit(_ language: Language, _ unit: String) {
        let content = PageContent(
            title: "T",
            sentence: Sentence(text: "S"),
            blocks: [Block(body: [.form(Sample.form("W"))])]
        )
        let page = html(content, Sample.request(language))
        // Of a line and of an area: the script counts the bytes of both.
        #expect(page.components(separatedBy: " data-limit=\"20\" data-unit=\"\(unit)\"").count > 2, "\(page)")
        #expect(page.contains("<textarea id=\"block-0-0-3\" name=\"area\" rows=\"4\" data-limit=\"20\" data-unit="))
    }

    @Test func everyFormHasTheTokens() {
        let page = full(.en, "Word")
        let forms = page.components(separatedBy: "method=\"post\"").dropFirst()
        #expect(forms.count > 5)
        for form in forms {
            #expect(form.prefix(400).contains("name=\"_token\" value=\"form-token\""))
        }
    }

    // A local time of a form is that of the page which the person saw.
    @Test func formsReturnTheZoneOfThePage() {
        var request = Sample.request()
        request.zone = "Europe/Berlin"
        let page = html(Sample.content("W"), request)
        #expect(page.contains("name=\"_zone\" value=\"Europe/Berlin\"") && page.contains(" · Berlin"))
        #expect(!page.contains("name=\"_zone\" value=\"Asia/Seoul\""))
        let bare = BareRequest(language: .en, path: "/sign-in", now: Sample.now, formToken: "t")
        #expect(!String(decoding: renderer.bare(Sample.content("W"), bare), as: UTF8.self).contains("_zone"))
    }

    // MARK: Frame

    @Test func theMenuShowsWhatTheAccountMayOpen() {
        let owner = html(Sample.content("W"), Sample.request(role: .owner))
        #expect(owner.contains("aria-label=\"Main menu\""))
        #expect(owner.contains("href=\"/t/acme/\"") || Pages.all.allSatisfy { !$0.path.isEmpty })
    }

    @Test(arguments: zip(Language.allCases, ["내보내기", "Export"]))
    func theHeadingLinksTheExports(_ language: Language, _ label: String) throws {
        let query: [PageRequest.Parameter] = [.init("app", "shop"), .init("after", "a&b")]
        var content = Sample.content("W")
        #expect(!html(content, Sample.request(language, query: query)).contains("export="))
        content.exports = [.csv, .json]
        let page = html(content, Sample.request(language, query: query))
        try Wellformed.check(page)
        // The rows that are shown: of this app, from this place of the list, and of days in this zone.
        let address = "/t/acme/messages?app=shop&amp;after=a%26b&amp;zone=Asia%2fSeoul&amp;export="
        let links = "<a href=\"\(address)csv\">CSV</a><a href=\"\(address)json\">JSON</a>"
        #expect(page.contains("<p class=\"tools\"><span class=\"muted\">\(label)</span>\(links)</p></div>"), "\(page)")
    }

    @Test func theLanguageIsNamed() {
        #expect(html(Sample.content("W"), Sample.request(.ko)).contains("<html lang=\"ko\">"))
        #expect(html(Sample.content("W"), Sample.request(.en)).contains("name=\"language\" value=\"ko\" lang=\"ko\""))
    }

    @Test func barePagesHaveNoTenant() throws {
        var request = BareRequest(language: .ko, path: "/sign-in", now: Sample.now, formToken: "t")
        var page = String(decoding: renderer.bare(Sample.content("글"), request), as: UTF8.self)
        #expect(!page.contains("/t/") && !page.contains(Renderer.faultMark))
        #expect(page.contains("action=\"/messages/1/edit\""))
        request.account = "kim"
        page = String(decoding: renderer.bare(Sample.content("글"), request), as: UTF8.self)
        #expect(page.contains(ConsolePaths.signOut))
        try Wellformed.check(page)
    }

    @Test func fragmentsAreThePartsOfThePage() {
        let request = Sample.request()
        let page = html(Sample.content("Word"), request)
        let fragments = renderer.fragments(Sample.content("Word"), request, path: "messages")
        #expect(fragments.map(\.id) == ["sentence", "block-0", "block-1"])
        for fragment in fragments {
            #expect(page.contains(fragment.html))
            #expect(fragment.html.contains("id=\"\(fragment.id)\""))
        }
        let event = String(decoding: Fragment(id: "a", html: "<p>\n</p>").event(id: "7"), as: UTF8.self)
        #expect(event == "id: 7\nevent: fragment\ndata: {\"id\":\"a\",\"html\":\"<p>\\n</p>\"}\n\n")
    }

    @Test func aLivePageNamesItsStream() {
        let page = html(Sample.content("W"), Sample.request(query: [.init("state", "a&b")]))
        let query = "state%3da%2526b%26zone%3dAsia%252fSeoul"
        #expect(page.contains("data-updates=\"/t/acme/live/stream?page=%2fmessages&amp;query=\(query)\""))
    }

    // An update has no question, no error and no secret: it would remove them.
    @Test func theAnswerOfAFormHasNoStream() {
        var request = Sample.request()
        request.typed = FormFields([FormFields.Field("name", .text("a"))])
        #expect(!html(Sample.content("W"), request).contains("data-updates"))
    }

    // MARK: Files

    @Test func assetsAreNamedByTheirContent() throws {
        let assets = try ConsoleFiles.bundled().assets
        #expect(assets.count == 2 + ConsoleFiles.scripts.count)
        for asset in assets { #expect(asset.path.wholeMatch(of: /\/assets\/[a-z]+-[0-9a-f]{16}\.(css|js|svg)/) != nil) }
        #expect(throws: ConsoleFilesError.self) { try ConsoleFiles.load(from: "/nonexistent") }
    }

    @Test func everyIconIsDrawn() throws {
        let icons = try ConsoleFiles.bundled().icons
        for icon in Icon.allCases { #expect(icons.contains("id=\"i-\(icon.rawValue)\""), "\(icon)") }
        for mark in ["ok", "warn", "bad", "idle", "info"] { #expect(icons.contains("id=\"i-mark-\(mark)\"")) }
        // Every icon that a template names exists.
        for (name, text) in try ConsoleFiles.bundled().templates {
            for part in text.components(separatedBy: "#i-").dropFirst() where !part.hasPrefix("{{") {
                #expect(icons.contains("id=\"i-\(part.prefix { $0 != "\"" })\""), "\(name)")
            }
        }
    }

    /// Before compression: 100 KB is the limit after it.
    @Test func theFirstViewIsSmall() throws {
        let files = try ConsoleFiles.bundled()
        let scripts = files.assets.filter { $0.path.hasSuffix(".js") }.map(\.bytes.count).reduce(0, +)
        #expect(scripts <= 30 << 10)
        let assets = files.assets.map(\.bytes.count).reduce(0, +)
        #expect(assets + full(.ko, "글자").utf8.count <= 100 << 10)
    }
}

extension View: ExpressibleByStringLiteral {
    /// A text.
    public init(stringLiteral value: String) { self = .text(value) }
}
