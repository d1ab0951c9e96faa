import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model
import NIOCore
import NativeHTTP

/// Serves the pages that pushes link to: `/r/<128 random bits>/<name>`. Knowledge of the id permits access. A page runs no scripts, and search engines do not
/// index it.
struct PageEndpoint: Sendable {
    /// - Throws: `StoreError` when the store cannot answer now.
    let find: @Sendable (String) async throws(StoreError) -> (name: String, body: String)?

    /// The length of an id: 32 lower-case hex digits.
    private static let idLength = 32

    func respond(to path: String, method: HTTPRequest.Method) async -> Response {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        guard method == .get || method == .head, parts.count == 3, parts[1].utf8.count == Self.idLength,
            parts[1].utf8.allSatisfy({ HexCoding.value(of: $0) != nil })
        else { return Problem.notFound("no such page").response }
        let page: (name: String, body: String)?
        do {
            page = try await find(String(parts[1]))
        } catch {
            return Problem.unavailable(5).response
        }
        guard let page, page.name == parts[2] else { return Problem.notFound("no such page").response }
        let body = method == .head ? ByteBuffer() : ByteBuffer(string: page.body)
        return Response(status: .ok, headers: Self.headers, body: ResponseBody(byteBuffer: body))
    }

    private static let headers: HTTPFields = {
        var headers = HTTPFields()
        headers[.contentType] = "text/html; charset=utf-8"
        headers[.contentSecurityPolicy] =
            "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
        headers[.cacheControl] = "private, no-store"
        headers[.xContentTypeOptions] = "nosniff"
        if let name = HTTPField.Name("X-Robots-Tag") { headers[name] = "noindex, nofollow, noarchive" }
        if let name = HTTPField.Name("Referrer-Policy") { headers[name] = "no-referrer" }
        return headers
    }()
}
