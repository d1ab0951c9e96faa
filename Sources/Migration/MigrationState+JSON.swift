package import Model

// The stored form of a state. The revision is stored next to it, for compare-and-set.
extension MigrationState {
    package var json: JSON {
        var object: JSONObject = ["status": .string(status.rawValue), "step": .int(step)]
        object["since"] = since.map { .string($0.rfc3339) }
        if !failures.isEmpty {
            object["failures"] = .object(
                JSONObject(
                    failures.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key.rawValue, .int($0.value)) }
                )
            )
        }
        if isReady { object["ready"] = true }
        object["reason"] = reason.map { .string($0) }
        return .object(object)
    }

    /// Nil for a value that this program does not understand: a later program may have written it, and nothing may be decided then.
    package init?(_ json: JSON, revision: Int64) {
        guard let object = json.object, let status = object["status"]?.string.flatMap({ Status(rawValue: $0) }),
            let step = object["step"]?.int.flatMap({ Int(exactly: $0) }), step >= 0
        else { return nil }
        self.init()
        (self.status, self.step, self.revision) = (status, step, revision)
        if let text = object["since"] {
            guard let since = text.string.flatMap({ Timestamp(rfc3339: $0) }) else { return nil }
            self.since = since
        }
        for (name, count) in object["failures"]?.object?.pairs ?? [] {
            guard let metric = MigrationMetric(rawValue: name), let count = count.int.flatMap({ Int(exactly: $0) })
            else { return nil }
            failures[metric] = count
        }
        isReady = object["ready"]?.bool ?? false
        reason = object["reason"]?.string
    }
}
