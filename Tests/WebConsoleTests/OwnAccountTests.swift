import Model
import Testing

@testable import PageParts
@testable import WebConsole

/// The page of a person's own account.
struct OwnAccountTests {
    @Test(arguments: zip(Language.allCases, ["11월 23일 (월) 05:23 UTC", "Mon 23 Nov 05:23 UTC"]))
    func sessionsHaveTheTimesOfTheLanguage(_ language: Language, _ time: String) throws {
        let session = OwnSession(
            id: "1",
            createdAt: Sample.now + .seconds(-86_400),
            seenAt: Sample.now,
            address: "192.0.2.1",
            browser: "Firefox, Linux",
            isThis: false
        )
        let account = OwnAccount(name: "kim", roles: [], hasCodes: true, mustHaveCodes: false, sessions: [session])
        let content = SignInPages.account(account, language, now: Sample.now)
        let cells = try #require(ReadPages.tables(content).first?.rows.first).cells
        let texts = cells.compactMap { cell -> String? in if case .text(let text) = cell { text } else { nil } }
        #expect(texts.count == 3 && texts[1] == time && texts[2] == "Firefox, Linux")
        #expect(texts.first?.hasSuffix(" 05:23 UTC") == true && texts.first != texts[1])
    }
}
