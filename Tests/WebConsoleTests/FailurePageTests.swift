import Testing

@testable import WebConsole

struct FailurePageTests {
    private func page(_ status: Int, _ code: String?, needs: Permission? = nil, _ language: Language = .en) throws
        -> String
    {
        let renderer = try Renderer.bundled(isStrict: true)
        let bytes = renderer.failure(
            status: status,
            code: code,
            detail: "a <detail>",
            requestID: "req-1",
            needs: needs,
            Sample.request(language),
            path: "keys"
        )
        let html = String(decoding: bytes, as: UTF8.self)
        #expect(!html.contains(Renderer.faultMark))
        try Wellformed.check(html)
        return html
    }

    @Test func itNamesCodeRequestAndAction() throws {
        let html = try page(503, "PG-2001")
        for text in ["PG-2001", "req-1", "Nothing was changed. Try again in a moment.", "a &lt;detail&gt;"] {
            #expect(html.contains(text), "\(text)")
        }
        #expect(try page(503, "PG-2001", .ko).contains("변경된 것은 없습니다."))
    }

    @Test func itNamesTheRolesWithThePermission() throws {
        let html = try page(403, "PG-1004", needs: .audit)
        #expect(html.contains("These roles may view the audit log: Owner, Auditor."))
        #expect(try page(403, nil, needs: .send, .ko).contains("소유자, 운영자, 작성자"))
    }

    @Test(arguments: [401, 403, 404, 405, 409, 413, 418, 429, 500, 503]) func everyStatusHasWords(_ status: Int) throws
    {
        for language in Language.allCases { #expect(try page(status, nil, language).contains("req-1")) }
    }

    @Test func outsideOfATenant() throws {
        let renderer = try Renderer.bundled(isStrict: true)
        let request = BareRequest(language: .en, path: "/", now: Sample.now, formToken: "t")
        let html = String(
            decoding: renderer.bareFailure(status: 404, code: nil, requestID: "req-1", request),
            as: UTF8.self
        )
        try Wellformed.check(html)
        #expect(html.contains("This was not found.") && !html.contains("/t/"))
    }
}
