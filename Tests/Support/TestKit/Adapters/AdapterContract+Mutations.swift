import Model

extension AdapterContract {
    /// Mutates every documented request of `subject`.
    ///
    /// - Parameters:
    ///   - subject: the vendor and its documented requests.
    ///   - percent: the share of the mutations that must become commands; with fewer, the test would only cover the parsing of
    /// requests.
    /// - Returns: the faults of an answer, or of the test itself, with the seed that repeats them; empty: no faults.
    package static func mutationFaults(_ subject: AdapterUnderTest, reaching percent: Int) -> [String] {
        subject.documented.compactMap { request in
            let run = mutate(subject, request, count: Fuzz.count, seed: Fuzz.seed)
            if let fault = run.fault { return "seed \(Fuzz.seed): \(fault)" }
            guard run.commands * 100 >= Fuzz.count * percent else {
                return
                    "seed \(Fuzz.seed): \(run.commands) of \(Fuzz.count) mutations of \(request.path) became commands"
            }
            return nil
        }
    }
}
