import AsyncHTTPClient
import Model
import NIOCore
import NIOHTTP1
import NIOPosix
package import NIOSSL

/// Calls a collector over HTTP/1.1 with one kept connection. It follows no redirects, because they could lead elsewhere with the secret headers.
package final class CollectorClient: Sendable {
    /// Ten seconds per call, as in OpenTelemetry's own libraries.
    package static let timeout = Duration.seconds(10)
    /// 64 KiB of an answer are read: it contains a number of rejected spans at most.
    private static let answerLimitBytes = 64 << 10

    private let url: String
    private let headers: [(String, String)]
    private let timeout: Duration
    private let client: HTTPClient

    /// - Parameters:
    ///   - url: the whole URL, as `TracingSettings` has checked it.
    ///   - headers: added to each call, such as a key of the collector.
    ///   - authorities: the authorities of its certificate; nil: those of the system.
    ///   - timeout: the time of one call.
    package init(
        url: String,
        headers: [(String, String)],
        authorities: TLSConfiguration? = nil,
        timeout: Duration = CollectorClient.timeout
    ) {
        self.url = url
        self.headers = headers
        self.timeout = timeout
        let limit = TimeAmount.milliseconds(timeout.milliseconds)
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: authorities,
            redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: limit, read: limit),
            decompression: .disabled
        )
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1
        client = HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton),
            configuration: configuration
        )
    }

    /// Sends one body.
    package func send(_ body: [UInt8]) async -> ExportMachine<SpanRecord>.Answer {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "User-Agent", value: "push-gateway")
        for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
        request.body = .bytes(ByteBuffer(bytes: body))
        do {
            let response = try await client.execute(request, timeout: .milliseconds(timeout.milliseconds))
            let answer = try await response.body.collect(upTo: Self.answerLimitBytes)
            return Self.answer(
                status: Int(response.status.code),
                retryAfter: response.headers.first(name: "Retry-After"),
                body: Array(answer.readableBytesView)
            )
        } catch {
            return .deferred(after: nil)
        }
    }

    /// Closes the connection.
    package func close() async { try? await client.shutdown() }

    /// The meaning of an answer. Source: OTLP Specification, "OTLP/HTTP Response" and "Retryable Response Codes", read 2026-11-26.
    static func answer(status: Int, retryAfter: String?, body: [UInt8]) -> ExportMachine<SpanRecord>.Answer {
        switch status {
        case 200..<300: .accepted(rejected: TraceExport.rejected(in: body))
        case 429, 502, 503, 504: .deferred(after: retryAfter.flatMap { Int($0) }.map { .seconds($0) })
        default: .refused
        }
    }
}
