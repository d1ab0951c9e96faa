import Model
import Testing

@testable import PageParts
@testable import WebConsole

/// Rules that each page of operations keeps, whatever it is answered.
struct OperationsPagesTests {
    /// The path of a page as segments; a field matches one segment.
    private static func matches(_ path: String, _ pattern: String) -> Bool {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        let wanted = pattern.split(separator: "/", omittingEmptySubsequences: false)
        return segments.count == wanted.count
            && zip(segments, wanted).allSatisfy { $0 == $1 || ($1.hasPrefix("{") && !$0.isEmpty) }
    }

    @Test(arguments: OperationsSamples.all)
    func thePageIsListedAndAsksForItsAnswersOnce(_ sample: OperationsSamples.Sample) {
        #expect(Pages.all.contains { $0.path == sample.page.path })
        let rounds = OperationsStage.calls(sample.page, sample.request(.en), sample.bodies)
        #expect((1...ConsoleLimits.roundsPerPage).contains(rounds.count))
        let calls = rounds.flatMap(\.self)
        #expect(calls.count <= ConsoleLimits.callsPerPage)
        #expect(Set(calls.map(\.name)).count == calls.count)
        #expect(calls.allSatisfy { sample.bodies[$0.name] != nil })
        // A page is opened by GET, so that it changes nothing.
        #expect(calls.allSatisfy { $0.method == .get })
    }

    @Test(arguments: OperationsSamples.all, Language.allCases)
    func aPageBeginsWithItsAnswer(_ sample: OperationsSamples.Sample, _ language: Language) throws {
        let content = try sample.page.content(sample.request(language), OperationsStage.answers(sample.bodies))
        #expect(!content.title.isEmpty && !content.sentence.text.isEmpty && !content.blocks.isEmpty)
    }

    @Test(arguments: OperationsSamples.all)
    func everyLinkAndButtonLeadsSomewhere(_ sample: OperationsSamples.Sample) throws {
        let content = try sample.page.content(sample.request(.en), OperationsStage.answers(sample.bodies))
        for link in OperationsStage.all(Link.self, in: content) {
            #expect(Pages.all.contains { Self.matches(link.path, $0.path) }, "\(link)")
        }
        var posts = OperationsStage.all(FormView.self, in: content).flatMap { form in
            [form.path] + (form.second.map { [$0.path] } ?? [])
        }
        for action in OperationsStage.all(Action.self, in: content) {
            if case .post(_, let path, _, _, _) = action { posts.append(path) }
        }
        for path in posts {
            #expect(
                sample.page.forms.contains { Self.matches(path, "\(sample.page.path)/\($0.name)") },
                "\(path)"
            )
        }
    }

    @Test(arguments: OperationsSamples.all)
    func theFormsOfAPageHaveDifferentNames(_ sample: OperationsSamples.Sample) {
        let names = sample.page.forms.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(sample.page.forms.allSatisfy { sample.page.permission.roles.isSuperset(of: $0.permission.roles) })
    }

    // A sentence of English has several words of small letters; names, codes and paths have fewer.
    @Test(arguments: OperationsSamples.all)
    func aKoreanPageHasNoEnglishSentence(_ sample: OperationsSamples.Sample) throws {
        let content = try sample.page.content(sample.request(.ko), OperationsStage.answers(sample.bodies))
        let code = Set(
            OperationsStage.all(Part.self, in: content).compactMap { part -> String? in
                if case .code(let text, _) = part { text } else { nil }
            } + OperationsStage.all(EmptyState.self, in: content).compactMap(\.code)
        )
        for text in OperationsStage.texts(content) where !code.contains(text) {
            let words = text.split(separator: " ").map { $0.allSatisfy { ("a"..."z").contains($0) } }
            let run = words.reduce(into: (now: 0, most: 0)) { run, isWord in
                run.now = isWord ? run.now + 1 : 0
                run.most = max(run.most, run.now)
            }
            #expect(run.most < 3, "\(text)")
        }
    }

    @Test(arguments: OperationsSamples.all, Language.allCases)
    func missingMembersAreUnknown(_ sample: OperationsSamples.Sample, _ language: Language) throws {
        let empty = OperationsStage.answers(sample.bodies.mapValues { _ in [:] })
        _ = try sample.page.content(sample.request(language), empty)
        let wrong = OperationsStage.answers(
            sample.bodies.mapValues { $0.replacing({ _ in [["x": .null], 3] }, { _ in "four" }) }
        )
        _ = try sample.page.content(sample.request(language), wrong)
        // Only the main answer is needed.
        let main = sample.page.calls(sample.request(language), Answers()).first?.name ?? ""
        let alone = OperationsStage.answers([main: sample.bodies[main] ?? .null])
        _ = try sample.page.content(sample.request(language), alone)
    }

    @Test(arguments: OperationsSamples.all)
    func aRefusedMainAnswerIsTheFailureOfThePage(_ sample: OperationsSamples.Sample) throws {
        let main = sample.page.calls(sample.request(.en), Answers()).first?.name ?? ""
        var answers = OperationsStage.answers(sample.bodies)
        answers[main] = OperationsStage.problem("the gateway cannot process the call now", status: 503)
        #expect(throws: PageFailure.self) { try sample.page.content(sample.request(.en), answers) }
        answers[main] = OperationsStage.problem("no such object", status: 404)
        #expect(throws: PageFailure.self) { try sample.page.content(sample.request(.en), answers) }
    }

    @Test(arguments: OperationsSamples.all, ["<script>alert(1)</script>", "\u{202E}gnp.exe\u{0}\u{7}", "long"])
    func hostileValuesStayTexts(_ sample: OperationsSamples.Sample, _ text: String) throws {
        let hostile = text == "long" ? String(repeating: "ㅁx ", count: 3334) : text
        for number in ["9223372036854775807", "-9223372036854775808", "1e308", "-1"] {
            let bodies = sample.bodies.mapValues {
                $0.replacing({ _ in .string(hostile) }, { _ in .number(number) })
            }
            var request = sample.request(.en)
            for name in request.path.keys { request.path[name] = hostile }
            request.query = ["after", "row", "app", "vendor", "metric", "level", "period", "version", "user"].map {
                PageRequest.Parameter($0, hostile)
            }
            let content = try sample.page.content(request, OperationsStage.answers(bodies))
            for link in OperationsStage.all(Link.self, in: content) {
                #expect(link.path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "<") })
            }
        }
    }

    @Test(arguments: OperationsSamples.all, ["..", "a/b", "a?b#c", "가나", ""])
    func aSegmentDoesNotChangeThePathOfACall(_ sample: OperationsSamples.Sample, _ segment: String) {
        var request = sample.request(.en)
        for name in request.path.keys { request.path[name] = segment }
        let normal = sample.page.calls(sample.request(.en), Answers())
        let coded = sample.page.calls(request, Answers())
        for (one, other) in zip(normal, coded) {
            #expect(one.path.split(separator: "/").count >= other.path.split(separator: "/").count)
            #expect(!other.path.contains("..") && !other.path.contains("?") && !other.path.contains("#"))
        }
    }

    @Test(arguments: OperationsSamples.all)
    func formsAcceptAnyFields(_ sample: OperationsSamples.Sample) throws {
        let long = String(repeating: "x", count: 100_000)
        let inputs: [FormFields] = [
            FormFields([]), OperationsStage.fields(["confirmed": "yes"]),
            FormFields(
                ["minutes", "exchanges", "from", "version", "overlapSeconds", "expiresAt", "overlay", "name", "file"]
                    .flatMap { [FormFields.Field($0, .text(long)), FormFields.Field($0, .text("-1"))] }
            ),
            FormFields([FormFields.Field("file", .file(name: "\u{0}/..", bytes: [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF]))]
            ),
        ]
        for form in sample.page.forms {
            for fields in inputs {
                let request = sample.request(.en)
                _ = form.submit(request, fields, Answers())
                _ = form.result(request, fields, OperationsStage.answer([:]))
                let refused = form.result(request, fields, OperationsStage.problem("name: is taken"))
                if case .invalid = refused { continue }
                Issue.record("\(form.name) takes a problem for a success")
            }
        }
    }

    // The page is shown again with the question, and nothing is called before the answer.
    @Test(arguments: OperationsSamples.all)
    func aDangerousButtonAsksFirst(_ sample: OperationsSamples.Sample) throws {
        let content = try sample.page.content(sample.request(.en), OperationsStage.answers(sample.bodies))
        for action in OperationsStage.all(Action.self, in: content) {
            guard case .post(_, let path, let fields, _, true) = action else { continue }
            let form = try #require(sample.page.forms.first { path.hasSuffix("/\($0.name)") })
            let sent = FormFields(fields.map { FormFields.Field($0.name, .text($0.value)) })
            guard case .show = form.submit(sample.request(.en), sent, Answers()) else {
                Issue.record("\(path) does not ask")
                continue
            }
            var request = sample.request(.en)
            request.typed = sent
            let asked = try sample.page.content(request, OperationsStage.answers(sample.bodies))
            let confirms = OperationsStage.all(Action.self, in: asked).contains {
                if case .post(_, path, let fields, true, true) = $0 {
                    fields.contains(PageRequest.Parameter("confirmed", "yes"))
                } else {
                    false
                }
            }
            #expect(confirms, "\(path)")
        }
    }
}
