import AccountStore
import CallAudit
import Foundation
package import GatewayHTTP
import HTTPTypes
package import Hummingbird
import Logging
import Model
import NIOCore
import Observability
import PageParts
import WebConsole

/// Answers a listener of the web console: signing in, the account of a person, the pages of tenants, and the files that they load.
///
/// A class: a waiting request holds one reference instead of copies of all parts.
package final class ConsoleResponder: HTTPResponder {
    package typealias Context = CallContext

    let parts: ConsoleParts
    let settings: ConsoleSettings

    /// - Parameters:
    ///   - parts: what all listeners of the console share.
    ///   - settings: how this listener is reached.
    package init(_ parts: ConsoleParts, _ settings: ConsoleSettings) {
        self.parts = parts
        self.settings = settings
    }

    var answers: ConsoleAnswers { parts.answers }

    package func respond(to request: Request, context: CallContext) async throws -> Response {
        var context = context
        let peer = settings.proxied?.client(of: context.channel) ?? context.client
        context.client = peer.isKnown ? settings.proxies.client(peer: peer.text, headers: request.headers) : peer
        let origin = ConsoleTransport.origin(
            authority: request.head.authority,
            peer: context.channel.remoteAddress?.ipAddress,
            headers: request.headers,
            settings
        )
        let own = ConsoleRequest(request, context, origin: origin ?? "", now: parts.clock.now())
        var response = await answer(own, isAcceptable: origin != nil)
        note(response, own)
        // The tokens of forms are spelled anew in each page, so the length of a compressed page reveals nothing about them.
        if Self.isText(response) { response = BodyCompressor.compressed(response, for: request.headers) }
        if let page = own.timing.page {
            if Self.isPage(response) { response = await timed(response, own.timing) }
            parts.counts.answered(page, status: response.status.code, in: own.timing.elapsed())
        }
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(_ request: ConsoleRequest, isAcceptable: Bool) async -> Response {
        guard isAcceptable else { return answers.problem(ConsoleRefusal(.insecure), request) }
        guard request.isRead || request.request.method == .post else {
            return answers.problem(ConsoleRefusal(.methodNotAllowed), request)
        }
        do {
            return try await route(request)
        } catch {
            return answers.problem(refusal(of: error), request)
        }
    }

    /// The error page of an error. One that no part of the console throws on purpose is logged.
    func refusal(of error: any Error) -> ConsoleRefusal {
        if let refusal = error as? ConsoleRefusal { return refusal }
        if error is StoreError {
            return ConsoleRefusal(.unavailable, code: ProblemCode.unavailable.rawValue, retryAfterSeconds: 5)
        }
        parts.logger.error("a page of the console failed", metadata: [LogKey.error: "\(error)"])
        return ConsoleRefusal(.failed)
    }

    private func route(_ request: ConsoleRequest) async throws -> Response {
        let path = request.path
        if path.hasPrefix("/assets/") {
            guard request.isRead, let asset = answers.asset(path) else { throw ConsoleRefusal(.notFound) }
            return asset
        }
        // Browsers ask for it on their own.
        if path == "/favicon.ico" { throw ConsoleRefusal(.notFound) }
        if !request.isRead, !request.isFromOwnPage { throw ConsoleRefusal(.forged) }
        if path.hasPrefix("/t/") { return try await tenantPage(request) }
        let name = String(path.dropFirst())
        if name.hasPrefix(SignInPages.Path.invitation) { return try await invitation(request) }
        switch name {
        case "": return try await start(request)
        case SignInPages.Path.signIn: return try await signIn(request)
        case SignInPages.Path.code: return try await code(request)
        case SignInPages.Path.prove: return try await prove(request)
        case SignInPages.Path.signOut: return try await signOut(request)
        case "preferences": return try await preferences(request)
        default:
            if name == SignInPages.Path.account || name.hasPrefix(SignInPages.Path.account + "/") {
                return try await account(request, name)
            }
            throw ConsoleRefusal(.notFound)
        }
    }

    /// A page with the header of its times. It is compressed before the header is written, so that the header has this time too.
    private func timed(_ response: Response, _ timing: PageTiming) async -> Response {
        var response = response
        let start = ContinuousClock.now
        if let bytes = try? await CollectedBody.bytes(of: response, limitBytes: ConsoleCalls.answerBytes) {
            response.body = ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        }
        if response.headers[.contentEncoding] != nil { timing.took(.gzip, since: start) }
        if let name = HTTPField.Name("Server-Timing") { response.headers[name] = timing.header() }
        return response
    }

    private static func isPage(_ response: Response) -> Bool {
        (response.headers[.contentType] ?? "").hasPrefix("text/html")
    }

    private static func isText(_ response: Response) -> Bool {
        let type = response.headers[.contentType] ?? ""
        return isPage(response) || type.hasPrefix("text/css") || type.hasPrefix("text/javascript")
            || type.hasPrefix("image/svg")
    }

    /// Logs a refused request without its path, which contains names.
    private func note(_ response: Response, _ request: ConsoleRequest) {
        guard response.status.code >= 400 else { return }
        parts.logger.info(
            "console request refused",
            metadata: [
                LogKey.status: "\(response.status.code)", LogKey.peer: "\(request.context.remoteAddress ?? "?")",
            ]
        )
    }

    // MARK: Shared by the pages

    /// The fields of a posted form, within a limit. `token`: the form must carry the token of the session.
    func fields(
        _ request: ConsoleRequest,
        limitBytes: Int,
        needsToken: Bool
    ) async throws -> FormFields {
        let bytes: [UInt8]
        // Until the fields are read. The call that the form makes asks for room of its own.
        var room: HeldPermit?
        defer { room?.release() }
        do throws(BodyReader.Failure) {
            bytes = try await BodyReader.read(
                request.request,
                on: request.context.channel,
                from: request.context.remoteAddress,
                limitBytes: limitBytes,
                sharing: parts.bodies
            ) { (bytes, _) async throws(BodyReader.Failure) in
                do throws(LimitExcess) {
                    room = try await parts.bodies.room(bytes: bytes, address: request.context.remoteAddress)
                } catch { throw .noRoom(error) }
            }
        } catch {
            switch error {
            case .tooLarge: throw ConsoleRefusal(.tooLarge)
            case .noRoom(let excess):
                parts.limiter.refused(excess, from: request.context.remoteAddress)
                throw ConsoleRefusal(.busy, retryAfterSeconds: excess.waitSeconds)
            default: throw ConsoleRefusal(.badRequest)
            }
        }
        let fields: FormFields
        do throws(FormReader.Failure) {
            fields = try FormReader.fields(bytes, type: request.request.headers[.contentType])
        } catch {
            throw ConsoleRefusal(.badRequest)
        }
        if needsToken {
            guard let secret = request.secret, FormToken.isRight(fields[FormToken.field], session: secret) else {
                throw ConsoleRefusal(.forged)
            }
        }
        return fields
    }

    /// The session of a request; nil: the person has to sign in.
    func session(_ request: ConsoleRequest, isWatching: Bool = false) async throws -> ConsoleSession? {
        guard let hash = request.hash else { return nil }
        return try await parts.store.session(hash, isWatching: isWatching)
    }

    /// The page of signing in, which leads back here. A form's address is not a page, so it leads to the beginning.
    func toSignIn(_ request: ConsoleRequest) -> Response {
        let back = request.isRead ? PercentCoding.encode(request.request.uri.description) : ""
        return ConsoleAnswers.redirect(to: "/\(SignInPages.Path.signIn)" + (back.isEmpty ? "" : "?next=\(back)"))
    }

    static let smallFormBytes = 16 << 10
}

/// The parts that all listeners of the console share.
package struct ConsoleParts: Sendable {
    let verifier: SignInVerifier
    let bodies: LargeBodies
    let limiter: CallLimiter
    let calls: ConsoleCalls
    let answers: ConsoleAnswers
    let live: LiveUpdates
    let counts: ConsoleCounts
    let reads: ReadAudit
    /// The names of all tenants, for accounts with the platform right.
    let tenants: @Sendable () async throws(StoreError) -> [TenantID]
    let clock: any WallClock
    let identifiers: any IdentifierSource
    let logger: Logger

    var store: PostgresAccountStore { verifier.store }
    var renderer: Renderer { answers.renderer }
}

/// A request that is answered with an error page.
struct ConsoleRefusal: Error {
    var problem: ConsoleProblem
    /// A sentence of the console in addition to the words of the problem.
    var note: Text?
    var code: String?
    /// The detail of the native API's problem, which is English.
    var detail: String?
    /// The permission that is missing: the page names the roles that have it.
    var needs: Permission?
    var retryAfterSeconds: Int?

    init(
        _ problem: ConsoleProblem,
        _ note: Text? = nil,
        code: String? = nil,
        detail: String? = nil,
        needs: Permission? = nil,
        retryAfterSeconds: Int? = nil
    ) {
        self.problem = problem
        self.note = note
        self.code = code
        self.detail = detail
        self.needs = needs
        self.retryAfterSeconds = retryAfterSeconds
    }
}
