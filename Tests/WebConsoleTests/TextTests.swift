import Foundation
import Model
import Testing

@testable import ConsoleAdministration
@testable import ConsoleDelivery
@testable import PageParts
@testable import WebConsole

/// The words of reasons, problems and diagnoses are complete: their codes and sentences are read from the sources of the API.
struct TextTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func source(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    /// The string literals of a source, with `{}` for each interpolation.
    private func literals(_ source: String) -> [String] {
        var found: [String] = []
        var rest = Substring(source.split(separator: "\n").filter { !$0.contains("///") }.joined(separator: "\n"))
        while let start = rest.firstIndex(of: "\"") {
            rest = rest[rest.index(after: start)...]
            var text = ""
            var depth = 0
            while let character = rest.popFirst() {
                if depth > 0 {
                    depth += character == "(" ? 1 : character == ")" ? -1 : 0
                } else if character == "\\", rest.first == "(" {
                    rest.removeFirst()
                    depth = 1
                    text += "{}"
                } else if character == "\"" {
                    break
                } else {
                    text.append(character)
                }
            }
            found.append(text)
        }
        return found
    }

    @Test func everyReasonHasWords() throws {
        let text = try source("Sources/Gateway/Explain/ReasonText.swift")
        var codes = Set(text.matches(of: /\(\s*"([A-Z][A-Za-z]+)",\s*"/).map { String($0.1) })
        for match in text.matches(of: /(?:SuppressionReason|FailureReason|PayloadProblem)\.([a-zA-Z]+)\.rawValue/) {
            codes.insert(String(match.1))
        }
        #expect(codes.count > 50)
        for code in codes.sorted() { #expect(ReasonWords.of(code) != nil, "\(code)") }
        for reason in SuppressionReason.allCases { #expect(ReasonWords.of(reason.rawValue) != nil) }
        // No words of a reason that does not exist.
        #expect(ReasonWords.all.filter { !codes.contains($0) } == [])
        #expect(ReasonWords.of("NewReason") == nil)
        #expect(ReasonWords.name("NewReason", .ko) == "NewReason")
    }

    @Test func everyProblemHasWords() throws {
        let documented = try source("docs/errors.md").matches(of: /\| (PG-\d+) \|/).map { String($0.1) }
        #expect(documented.count > 15)
        #expect(Set(documented) == Set(ProblemWords.codes))
        #expect(!ProblemWords.of(nil, status: 500).title(.ko).isEmpty)
    }

    @Test func everyConditionHasATitle() throws {
        let table = try source("Sources/Gateway/Explain/DeviceCondition.swift").prefix { $0 != "}" }
        let names = table.matches(of: /case ([a-zA-Z]+)/).map { String($0.1) }
        #expect(names.count == 18)
        #expect(ConditionWords.all.map(\.0) == names)
    }

    /// Each cause of a wait is one of those whose texts `DiagnosisWaitsTests` compares.
    @Test func everyWaitHasWords() throws {
        let table = try source("Sources/Gateway/Explain/WaitingMessage.swift").prefix { $0 != "}" }
        let causes = table.matches(of: /case ([a-zA-Z, ]+)/).flatMap { $0.1.split(separator: ", ").map(String.init) }
        #expect(Set(causes) == Set(DiagnosisWaitsTests.causes.map(\.name)))
    }

    /// Each word for a path that could not be used.
    @Test func everyOutcomeOfAPathHasWords() throws {
        let table = try source("Sources/DeliveryEngine/TriedPath.swift").prefix { $0 != "}" }
        let names = table.matches(of: /case ([a-zA-Z, ]+)/).flatMap { $0.1.split(separator: ", ").map(String.init) }
        #expect(names.count == 5)
        for name in names { #expect(DeliveryPaths.outcomes[name] != nil, "\(name)") }
    }

    /// Literals with a part that the code makes of two forms, and these forms.
    private static let composed = [
        "Pushes for {} use {}credential {}.": [
            "Pushes for ios production use topic a.b, credential c.", "Pushes for ios production use credential c.",
        ],
        "The push service refuses the credential {} with {}{}": [
            "The push service refuses the credential c with Forbidden.",
            "The push service refuses the credential c with BadTopic: The topic is malformed.",
        ],
        "The push service rejected the token with {}{}": [
            "The push service rejected the token with New.",
            "The push service rejected the token with ExpiredToken: The device token has expired.",
        ],
        "The token is {}.": ["The token is invalid.", "The token is quarantined."],
    ]

    /// Every sentence of explanations and diagnoses has a Korean one.
    @Test(arguments: [
        "Sources/Gateway/Explain/ReasonText.swift", "Sources/Gateway/Explain/DeviceDiagnosis.swift",
    ]) func everySentenceIsTranslated(_ path: String) throws {
        let sentences = literals(try source(path)).filter {
            // Sentences, without the parts from which the code composes them.
            $0.first?.isUppercase == true && $0.contains(" ") && ($0.hasSuffix(".") || $0.hasSuffix("{}"))
        }
        #expect(sentences.count > 20)
        for sentence in sentences {
            for form in Self.composed[sentence] ?? [sentence.replacing("{}", with: "x1")] {
                #expect(APISentence.korean(form) != nil, "\(form)")
            }
        }
    }

    @Test func valuesOfSentencesStay() {
        let english = "The push service refuses the credential apple with BadTopic: The topic is malformed."
        #expect(
            APISentence.text(english).ko
                == "푸시 서비스가 인증서·키 apple을(를) BadTopic(으)로 거절합니다. 토픽의 형식이 잘못되었습니다."
        )
        #expect(APISentence.text(english).en == english)
        let wait =
            "It waits until 2026-11-23T00:00:00Z, because of the app's quiet hours, 2100 to 0900 in Asia/Seoul."
        #expect(APISentence.text(wait).ko == "앱의 방해 금지 시간(Asia/Seoul 2100 to 0900) 때문에 2026-11-23T00:00:00Z까지 기다립니다.")
        #expect(APISentence.text("Something new.").ko == "Something new.")
        for text in Sample.hostile { #expect(APISentence.text(text).en == text) }
    }

    @Test func everyStateHasWords() {
        for state in MessageState.allCases { #expect(StateWords.message(state.rawValue).ko != state.rawValue) }
        for state in DeliveryState.allCases { #expect(StateWords.delivery(state.rawValue).ko != state.rawValue) }
        for lane in Lane.allCases { #expect(StateWords.lane("\(lane)").ko != "\(lane)") }
        #expect(StateWords.message("later").en == "later")
    }

    @Test func oneIsSingular() {
        #expect("\(1, one: "target") and \("1,204", one: "target")" == "1 target and 1,204 targets")
        #expect("\("1", one: "node is", many: "nodes are") running" == "1 node is running")
        #expect(DeliveryText.targets("UPMC", "1").en == "UPMC · 1 target")
        #expect(NodesText.busy("1", "2", "3 min").en == "1 node is running; 2 slices are due, the oldest for 3 min.")
        #expect(AuditText.found("1", "a", "b").en == "1 entry matches (b).")
        #expect(AccountsText.count(1, 1).en == "1 account may use this tenant; 1 of them is an owner.")
    }

    /// A count followed by a plural noun uses `one:`, which gives both forms. Texts that begin with `All` are excepted, because one thing has a text of its own.
    @Test func noCountHasAPluralAlone() throws {
        let folder = Self.root.appending(path: "Sources/WebConsole")
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        let texts = names.filter { $0.hasSuffix(".swift") }
        #expect(texts.count > 100)
        let counts =
            "count|number|total|targets|reached|settled|pending|expired|lost|lag|slices|open|due|nodes|waiting|days"
            + "|seconds|minutes|bindings|accounts|owners|empty|without"
        let pattern = try Regex(#"\\\((?:\#(counts))\) ([a-z]+s)\b"#, as: (Substring, Substring).self)
        for name in texts.sorted() {
            let text = try source("Sources/WebConsole/\(name)")
            for match in text.matches(of: pattern) where !["is", "was", "has"].contains(match.output.1) {
                let isGuarded = text[..<match.range.lowerBound].hasSuffix("All ")
                #expect(isGuarded, "\(name): \(match.output.0)")
            }
        }
    }

    /// Korean texts contain Korean, and English ones none.
    @Test func languagesAreNotMixed() {
        let texts =
            ReasonWords.all.compactMap { ReasonWords.of($0) }.flatMap { [$0.meaning, $0.action, $0.party.name] }
            + ConditionWords.all.map(\.1)
            + ProblemWords.codes.flatMap { code in
                let words = ProblemWords.of(code, status: 0)
                return [words.title, words.action]
            } + Role.allCases.map(CommonText.role) + Permission.allCases.map(CommonText.permission)
        let hangul = "가"..."힣"
        for text in texts {
            #expect(text.ko.contains { hangul.contains(String($0)) }, "\(text)")
            #expect(!text.en.contains { hangul.contains(String($0)) }, "\(text)")
        }
    }
}
