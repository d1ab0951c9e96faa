import HTTP2
import Model
import Testing

@testable import APNs

/// The outcome of a request without an answer: the matrix of docs/contracts/apns.md#13.4, row by row.
struct RetryMatrixTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let event: String
        let error: HTTP2Error
        /// "no": the request was certainly not processed. Otherwise "unknown".
        let isUnprocessed: Bool
        let code: TransportError.Code
        var testDescription: String { event }
    }

    static let rows = [
        // Never submitted, or still in the pool's queue: no.
        Row(
            event: "queued when the connection ended",
            error: HTTP2Error(.notSent, isUnsent: true),
            isUnprocessed: true,
            code: .reset
        ),
        Row(event: "no room", error: HTTP2Error(.noCapacity, isUnsent: true), isUnprocessed: true, code: .refused),
        Row(
            event: "no address",
            error: HTTP2Error(.resolveFailed, isUnsent: true),
            isUnprocessed: true,
            code: .noConnection
        ),
        Row(
            event: "no TCP",
            error: HTTP2Error(.connectFailed, isUnsent: true),
            isUnprocessed: true,
            code: .noConnection
        ),
        Row(
            event: "no TCP in time",
            error: HTTP2Error(.connectTimeout, isUnsent: true),
            isUnprocessed: true,
            code: .noConnection
        ),
        Row(event: "no TLS", error: HTTP2Error(.tlsFailed, isUnsent: true), isUnprocessed: true, code: .noConnection),
        Row(
            event: "no TLS in time",
            error: HTTP2Error(.tlsTimeout, isUnsent: true),
            isUnprocessed: true,
            code: .noConnection
        ),
        Row(
            event: "untrusted",
            error: HTTP2Error(.certificateRejected, isUnsent: true),
            isUnprocessed: true,
            code: .noConnection
        ),
        Row(event: "no h2", error: HTTP2Error(.noALPN, isUnsent: true), isUnprocessed: true, code: .noConnection),
        Row(
            event: "stream numbers used up",
            error: HTTP2Error(.streamsExhausted, isUnsent: true),
            isUnprocessed: true,
            code: .goingAway
        ),
        Row(
            event: "deadline in the queue",
            error: HTTP2Error(.deadlineExceeded, isUnsent: true),
            isUnprocessed: true,
            code: .timedOut
        ),
        Row(
            event: "cancelled in the queue",
            error: HTTP2Error(.canceled, isUnsent: true),
            isUnprocessed: true,
            code: .canceled
        ),
        // RST_STREAM REFUSED_STREAM, a stream above the GOAWAY's last id: no.
        Row(
            event: "REFUSED_STREAM",
            error: HTTP2Error(.refusedStream, isUnsent: true, peerCode: 7),
            isUnprocessed: true,
            code: .refused
        ),
        Row(
            event: "above GOAWAY's last id",
            error: HTTP2Error(.goAway, isUnsent: true),
            isUnprocessed: true,
            code: .goingAway
        ),
        // Another RST code, TCP or TLS failure, PING timeout, reply timeout after HEADERS were written: unknown.
        Row(
            event: "RST INTERNAL_ERROR",
            error: HTTP2Error(.streamReset, peerCode: 2),
            isUnprocessed: false,
            code: .reset
        ),
        Row(event: "RST CANCEL", error: HTTP2Error(.streamReset, peerCode: 8), isUnprocessed: false, code: .reset),
        Row(event: "connection lost", error: HTTP2Error(.connectionLost), isUnprocessed: false, code: .reset),
        Row(event: "TLS record broken", error: HTTP2Error(.tlsFailed), isUnprocessed: false, code: .noConnection),
        Row(event: "PING timeout", error: HTTP2Error(.pingTimeout), isUnprocessed: false, code: .reset),
        Row(event: "reply timeout", error: HTTP2Error(.deadlineExceeded), isUnprocessed: false, code: .timedOut),
        Row(event: "cancelled in flight", error: HTTP2Error(.canceled), isUnprocessed: false, code: .canceled),
        Row(event: "closed by us", error: HTTP2Error(.closed), isUnprocessed: false, code: .reset),
        Row(event: "protocol error", error: HTTP2Error(.protocolError), isUnprocessed: false, code: .reset),
    ]

    @Test(arguments: rows) func eventIsUnsentOrIndeterminateByTheMatrix(row: Row) {
        switch Outcome(row.error) {
        case .unsent(let error):
            #expect(row.isUnprocessed)
            #expect(error.code == row.code)
        case .indeterminate(let error):
            #expect(!row.isUnprocessed)
            #expect(error.code == row.code)
        case .accepted, .rejected, .deferred: Issue.record("\(Outcome(row.error))")
        }
    }

    @Test func invalidBytesOfTheClientAreNeverSentAgain() {
        let invalid = Rejection(scope: .content, reason: "InvalidRequest", status: 0)
        #expect(Outcome(HTTP2Error(.invalidRequest, isUnsent: true)) == .rejected(invalid))
        let large = Rejection(scope: .content, reason: "PayloadTooLarge", status: 0)
        #expect(Outcome(HTTP2Error(.requestTooLarge, isUnsent: true)) == .rejected(large))
    }
}
