/// A figure of the agreement between the gateway and an upstream whose calls it observes (docs/routing.md#parity).
package enum ParityMetric: String, Sendable, Hashable, CaseIterable {
    /// Calls that the vendor accepted. They differ if the gateway did not understand or did not store them.
    case observed
    /// Answers. They differ if the gateway would have answered with other fields.
    case responses
    /// Targets of the vendor's sends. They differ if the gateway could not push to them.
    case reach
    /// Sends. They differ if the gateway's payload would be refused or shortened.
    case payload
    /// Receipts. They differ if the gateway does not know their message.
    case unknown
    /// Sends. They differ if the caller has no proof that the gateway accepts.
    case senders
}

/// The observations of one metric.
package struct ParityFigure: Sendable, Hashable {
    package var metric: ParityMetric
    package var samples: Int
    package var differences: Int

    package init(_ metric: ParityMetric, samples: Int, differences: Int) {
        self.metric = metric
        self.samples = samples
        self.differences = differences
    }

    /// The share of samples that agree; nil without samples, which say nothing.
    package var agreement: Double? {
        samples > 0 ? Double(max(0, samples - differences)) / Double(samples) : nil
    }
}

/// One masked difference.
package struct ParitySample: Sendable, Hashable {
    /// 20 of an hour, and of an answer: they show what differs, and the figures how often.
    package static let limit = 20

    package var metric: ParityMetric
    package var dialect: Vendor
    /// Hours since 1970.
    package var hour: Int32
    package var facts: JSONObject

    package init(_ metric: ParityMetric, dialect: Vendor, hour: Int32, facts: JSONObject) {
        self.metric = metric
        self.dialect = dialect
        self.hour = hour
        self.facts = facts
    }
}

extension ObservedReach {
    /// Samples and differences.
    ///
    /// - Parameter counted: the number of targets of an audience in the vendor's answer; nil: it has none.
    /// - Returns: nil if there is nothing to compare.
    package func figure(counted: Int?) -> ParityFigure? {
        if let reachable {
            return known > 0 ? ParityFigure(.reach, samples: known, differences: max(0, known - reachable)) : nil
        }
        guard let counted, counted > 0 else { return nil }
        return ParityFigure(.reach, samples: counted, differences: max(0, counted - known))
    }
}

extension Command {
    /// Whether the command changes nothing, so that a call that the upstream has answered may be carried out here only to compare the answers. False for images and
    /// series, which cost much, and for histories that mark what they return as received.
    package var isPureRead: Bool {
        switch self {
        case .registration(.standing), .registration(.listed), .preference(.preferences), .submission(.report),
            .badge(.set(nil, of: _)):
            true
        case .group(.find), .group(.list), .group(.groups), .group(.members): true
        case .inbox(.history(_, let page)): page.look != nil
        case .inbox(.deliveryInfo), .inbox(.message), .inbox(.userMessage), .inbox(.unread): true
        case .campaign(.find), .campaign(.list), .campaign(.schedule), .campaign(.schedules): true
        case .user(.describe): true
        case .registration, .preference, .sender, .group, .receipt, .inbox, .submission, .campaign, .media, .badge,
            .user:
            false
        }
    }
}
