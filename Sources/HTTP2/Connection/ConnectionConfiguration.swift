/// The destination of a connection and its settings.
package struct ConnectionConfiguration: Sendable {
    /// A DNS name or an IP address.
    package var host: String
    /// The TCP port.
    package var port: Int
    /// Trust roots, and the `TLSIdentity` to present. Connections with the same context resume each other's TLS sessions.
    package var tls: TLSContext
    /// The name that the peer's certificate must match, which is also sent as SNI; nil for the host.
    package var serverName: String?
    /// The response fields to keep; all others are discarded.
    package var collectedFields: [FieldName] = []
    /// How many streams may be open before the peer's SETTINGS arrive. Apple requires 1 for connections that use tokens.
    package var initialStreamLimit = 1
    /// The limits.
    package var limits = HTTP2Limits()
    /// The timeouts: for dialling, PING and its answer, idleness, age and drain.
    package var timeouts = HTTP2Timeouts()

    /// Creates a configuration with the default settings.
    package init(host: String, port: Int, tls: TLSContext) {
        self.host = host
        self.port = port
        self.tls = tls
    }
}

/// The events of a connection since the last report.
package struct ConnectionReport: Sendable {
    /// Requests that completed; each is reported once.
    package internal(set) var completions: [Completion] = []
    /// Changes of the connection itself, in order.
    package internal(set) var changes: [ConnectionChange] = []
    /// How many requests `submit` would accept at this moment.
    package internal(set) var credits = 0
}

/// A change of a connection.
package enum ConnectionChange: Sendable, Equatable {
    /// The connection is ready for requests.
    case opened
    /// The peer changed how many streams may be open.
    case streamLimit(Int)
    /// The peer accepts no new requests: take the connection out of rotation. Open streams up to the last id continue; the connection closes when they are
    /// done.
    case goAway(GoAway)
    /// The stream numbers are used up; the effect is that of a GOAWAY.
    case exhausted
    /// The connection was idle or open for as long as `HTTP2Timeouts` allows; the effect is that of a GOAWAY. If its age is the reason, a replacement may be
    /// opened first; requests submitted from here on complete as unsent.
    case retired(RetirementReason)
    /// A PING was answered after this time.
    case pingAnswered(Duration)
    /// The connection is closed and every request has completed; this is the last report. The error is nil if it closed in an orderly way.
    case closed(HTTP2Error?)
}

/// The timeout that ended a connection.
package enum RetirementReason: Sendable, Equatable {
    /// No request was open for `HTTP2Timeouts.idleClose`.
    case idle
    /// It was open for `HTTP2Timeouts.maxAge`, less the random spread.
    case age
}

/// The state of a connection that a pool uses to choose one. It is a snapshot from the loop's last turn.
package struct ConnectionLoad: Sendable, Equatable {
    /// The phases of a connection.
    package enum Phase: Sendable, Equatable {
        /// Not open yet. Goes to: open, closed.
        case opening
        /// Accepts requests. Goes to: draining, closed.
        case open
        /// Accepts no new requests and finishes the open ones. Goes to: closed.
        case draining
        /// Closed.
        case closed
    }

    /// The phase of the connection.
    package internal(set) var phase = Phase.opening
    /// Requests that were submitted and have not completed, including the queued ones.
    package internal(set) var inFlightCount = 0
    /// How many requests `submit` would accept.
    package internal(set) var credits = 0
    /// How many streams may be open at once.
    package internal(set) var streamLimit = 0
    /// How many bytes of request bodies the peer's connection window allows. If it is smaller than two bodies, another connection is a better choice.
    package internal(set) var sendWindowBytes = 0
    /// Streams started since the connection opened.
    package internal(set) var startedCount: UInt32 = 0
    /// How the TLS handshake was done; nil before the connection is open.
    package internal(set) var handshake: TLSHandshake?
    /// How long name look-up, TCP and TLS took together; nil before the connection is open.
    package internal(set) var dialDuration: Duration?
    /// The duration of the last PING; nil before the first answer.
    package internal(set) var pingDuration: Duration?
    /// Encrypted bytes that wait for the socket. Above zero, the peer or the network is slower than the requests. At most `HTTP2Limits.maxPendingOutputBytes`
    /// plus one record.
    package internal(set) var pendingOutputBytes = 0
}

/// Receives the reports of a connection. The pool above the connection implements it.
package protocol ConnectionObserver: AnyObject, Sendable {
    /// Called at most once per wake-up of the loop, on the loop's thread; it must not block. It may call the connection, including `submit`, which is the
    /// cheapest place to submit more requests.
    ///
    /// A report comes when a request completed, when something changed, and when there are credits again after a `submit` could not take its whole batch.
    func connection(_ connection: Connection, reported report: borrowing ConnectionReport)
}
