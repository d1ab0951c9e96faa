import Foundation
import Model
import Testing

@testable import ConsoleAdministration
@testable import ConsoleOperations
@testable import PageParts
@testable import WebConsole

/// Errors of the native API, whose details are English, on pages of both languages.
struct FieldErrorsTests {
    private func problem(_ detail: String, status: Int = 422, code: String = "PG-1002") -> APIAnswer {
        ReadPages.problem(status, code, detail)
    }

    @Test func aDetailIsTranslatedOrQuoted() {
        let known = FieldErrors(problem("title: at most 1000 bytes"))
        #expect(known.words(.en) == ["title": ErrorWords(text: "at most 1000 bytes")])
        #expect(known.words(.ko) == ["title": ErrorWords(text: "1000바이트 이하여야 합니다.")])
        let other = FieldErrors(problem("to: names nobody in the house"))
        #expect(other.words(.en) == ["to": ErrorWords(text: "names nobody in the house")])
        let korean = ErrorWords(text: "잘못된 값이 있습니다. 표시된 필드를 수정하세요.", quote: "names nobody in the house")
        #expect(other.words(.ko) == ["to": korean])
        #expect(korean.named("to").quote == "to: names nobody in the house")
        // The page's own errors are in its language.
        #expect(FieldErrors(["title": "너무 깁니다."]).words(.ko) == ["title": ErrorWords(text: "너무 깁니다.")])
    }

    @Test func aProblemWithoutADetailHasItsWords() {
        let errors = FieldErrors(problem("", status: 412, code: "PG-1017"))
        #expect(errors.words(.ko)[""]?.text.hasPrefix("다른 사용자가 먼저 변경했습니다.") == true)
        #expect(errors.words(.en)[""]?.text.hasPrefix("Another user changed this meanwhile.") == true)
        let unknown = FieldErrors(problem("what is this", status: 404, code: "PG-9999"))
        #expect(unknown.words(.ko)[""]?.text.hasPrefix("찾을 수 없습니다.") == true)
    }

    @Test func valuesWithWordsAreNotMixedWithKorean() {
        #expect(FaultSentence.korean("must be one of read, send") == "다음 중 하나여야 합니다: read, send.")
        #expect(FaultSentence.korean("must be one of read, or a scope like send:app/shop") == nil)
        #expect(FaultSentence.korean("must be an integer from 1 to 90") == "1부터 90까지의 정수여야 합니다.")
        #expect(FaultSentence.korean("at most 3 tags joined by ||") == nil)
        for text in Sample.hostile { _ = FaultSentence.korean(text) }
    }

    /// Each fault is one that the API writes: a source has its fixed words, in this order, in one line.
    @Test func everyFaultIsOneOfTheAPI() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources")
        var lines: [Substring] = []
        for folder in ["Gateway", "Commands"] {
            let folder = root.appending(path: folder)
            let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
            while let file = files?.nextObject() as? URL {
                guard file.pathExtension == "swift" else { continue }
                let text = try String(contentsOf: file, encoding: .utf8)
                lines += text.split(separator: "\n").filter { $0.contains("\"") }
            }
        }
        for fault in FaultSentence.table {
            let pieces = fault.en.split(separator: "{}")
            let isWritten = lines.contains { line in
                var rest = line
                return pieces.allSatisfy { piece in
                    guard let place = rest.firstRange(of: piece) else { return false }
                    rest = rest[place.upperBound...]
                    return true
                }
            }
            #expect(isWritten, "\(fault.en)")
            #expect(!fault.ko.isEmpty)
        }
    }

    // MARK: Pages

    private func html(_ content: PageContent, _ request: PageRequest, path: String) throws -> String {
        let html = String(
            decoding: try Renderer.bundled(isStrict: true).page(content, request, path: path),
            as: UTF8.self
        )
        #expect(!html.contains(Renderer.faultMark))
        try Wellformed.check(html)
        return html
    }

    /// The English of the API is marked as such: everything else of a Korean page is Korean.
    @Test func aFormShowsTheWordsInItsLanguage() throws {
        var request = Sample.request(.ko)
        request.errors = FieldErrors(problem("text: has an <odd> end"))
        let content = PageContent(
            title: "T",
            sentence: Sentence(text: "S"),
            blocks: [Block(body: [.form(Sample.form("가"))])]
        )
        let near = try html(content, request, path: "messages")
        #expect(near.contains("표시된 필드를 수정하세요. <span lang=\"en\">has an &lt;odd&gt; end</span></p>"))
        request.errors = FieldErrors(problem("no such thing", status: 404, code: "PG-1005"))
        let above = try html(content, request, path: "messages")
        #expect(above.contains("<p>찾을 수 없습니다.") && above.contains(" <span lang=\"en\">no such thing</span></p>"))
        request.language = .en
        let english = try html(content, request, path: "messages")
        #expect(english.contains("<p>no such thing</p>"))
    }

    @Test func aPageWithoutTheFieldQuotesBelowItsWords() throws {
        var request = ReadPages.request([:], [:], .ko)
        request.errors = FieldErrors(problem("key: is on holiday"))
        let parts = try #require(FormProblems.block(request)).body
        guard parts.count == 2, case .callout(.bad, let words, _) = parts[0], case .quote(let quote) = parts[1] else {
            Issue.record("\(parts)")
            return
        }
        #expect(words.hasPrefix("잘못된 값이 있습니다.") && quote == "key: is on holiday")
    }

    @Test func theOverlayHasTheErrorsOfItsRules() {
        let form = SaveOverlayForm()
        let answer = problem("calls[0].if: has no users")
        guard case .invalid(let errors) = form.result(ReadPages.request(), FormFields([]), answer) else {
            Issue.record("no error")
            return
        }
        #expect(errors.words(.en) == ["overlay": ErrorWords(text: "calls[0].if: has no users")])
        #expect(errors.words(.ko)["overlay"]?.quote == "calls[0].if: has no users")
        let conflict = problem("version 42 is in force; nothing was changed", status: 412, code: "PG-1017")
        guard case .invalid(let stale) = form.result(ReadPages.request(), FormFields([]), conflict) else {
            Issue.record("no conflict")
            return
        }
        #expect(stale.words(.ko)[""]?.text.hasPrefix("다른 사용자가 먼저 변경했습니다.") == true)
    }

    @Test func otherFieldsKeepTheWordsOfTheProblem() {
        let result = CreateKeyForm().result(ReadPages.request(), FormFields([]), problem("scopes[0]: has no right"))
        guard case .invalid(let errors) = result else {
            Issue.record("no error")
            return
        }
        #expect(errors.words(.ko)["scope-send"]?.quote == "has no right")
        let upload = UploadCredentialForm().result(
            ReadPages.request([:], [:], .ko),
            FormFields([]),
            problem("passphrase: is wrong")
        )
        guard case .invalid(let refused) = upload else {
            Issue.record("no error")
            return
        }
        #expect(refused.words(.ko)["passphrase"]?.quote == "is wrong")
    }
}
