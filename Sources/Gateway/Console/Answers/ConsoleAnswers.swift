import Foundation
import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model
import NIOCore
import PageParts
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
    func problem(_ refusal: ConsoleRefusal, _ request: ConsoleRequest) -> Response {
        let content = content(refusal, request, isInTenant: false)
        return Self.marked(bare(content, request), refusal)
    }

    /// The same in the frame of a tenant, which the person may open.
    func problem(
        _ refusal: ConsoleRefusal,
        _ request: ConsoleRequest,
        in page: PageRequest,
        path: String
    ) -> Response {
        let content = content(refusal, request, isInTenant: true)
        return Self.marked(html(renderer.page(content, page, path: path)), refusal)
    }

    private func content(_ refusal: ConsoleRefusal, _ request: ConsoleRequest, isInTenant: Bool) -> PageContent {
        FailureContent.content(
            refusal.problem,
            code: refusal.code,
            note: refusal.note,
            detail: refusal.detail,
            needs: refusal.needs,
            requestID: request.requestID,
            isInTenant: isInTenant,
            request.language
        )
    }

    /// An answer with the status of an error, and the time after which it may be repeated.
    private static func marked(_ response: Response, _ refusal: ConsoleRefusal) -> Response {
        var response = response
        response.status = HTTPResponse.Status(code: refusal.problem.status)
        if let seconds = refusal.retryAfterSeconds { response.headers[.retryAfter] = "\(seconds)" }
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
