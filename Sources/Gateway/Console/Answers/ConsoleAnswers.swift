import Foundation
import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model
import NIOCore
import WebConsole

/// Makes the answers of the console: pages outside of tenants, errors, and redirections.
struct ConsoleAnswers: Sendable {
    let renderer: Renderer

    func html(_ bytes: [UInt8], status: HTTPResponse.Status = .ok, cookies: [String] = []) -> Response {
        var headers = SecurityHeaders.page
        for cookie in cookies { headers.append(HTTPField(name: .setCookie, value: cookie)) }
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// A page outside of tenants.
    func bare(
        _ content: PageContent,
        _ request: ConsoleRequest,
        account: String? = nil,
        status: HTTPResponse.Status = .ok,
        typed: FormFields = FormFields([]),
        error: Text? = nil,
        once: String = "",
        cookies: [String] = []
    ) -> Response {
        var bare = BareRequest(
            language: request.language,
            path: request.isRead ? request.request.uri.description : request.path,
            now: request.now,
            formToken: request.formToken,
            onceToken: once
        )
        bare.theme = request.theme
        bare.account = account
        bare.typed = typed
        if let error { bare.errors = FieldErrors(["": error(request.language)]) }
        return html(renderer.bare(content, bare), status: status, cookies: cookies)
    }

    /// An error as a page, with the identifier of the request.
    func problem(
        _ problem: ConsoleProblem,
        _ request: ConsoleRequest,
        detail: Text? = nil,
        code: String? = nil,
        account: String? = nil,
        retryAfterSeconds: Int? = nil,
        cookies: [String] = []
    ) -> Response {
        let content = SignInPages.problem(
            problem,
            request.language,
            detail: detail.map { $0(request.language) },
            code: code,
            requestID: request.requestID
        )
        var response = bare(
            content,
            request,
            account: account,
            status: HTTPResponse.Status(code: problem.status),
            cookies: cookies
        )
        if let retryAfterSeconds { response.headers[.retryAfter] = "\(retryAfterSeconds)" }
        return response
    }

    /// 303: the browser opens `path` with GET.
    static func redirect(to path: String, cookies: [String] = []) -> Response {
        var headers = SecurityHeaders.common
        headers[.cacheControl] = "no-store"
        headers[.location] = path
        for cookie in cookies { headers.append(HTTPField(name: .setCookie, value: cookie)) }
        return Response(status: .seeOther, headers: headers)
    }

    /// A file whose path contains the digest of its content.
    func asset(_ path: String) -> Response? {
        guard let asset = renderer.assets.first(where: { $0.path == path }) else { return nil }
        return Response(
            status: .ok,
            headers: SecurityHeaders.asset(asset.contentType),
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: asset.bytes))
        )
    }
}
