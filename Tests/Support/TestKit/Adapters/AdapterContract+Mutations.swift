import Model

extension AdapterContract {
    /// Mutates every documented request of `subject`.
    ///
    /// - Parameters:
    ///   - subject: the vendor and its documented requests.
    ///   - percent: how many of the mutations must become commands: with fewer the test would only exercise the reading of requests.
    /// - Returns: what is wrong with an answer, or with the test itself, with the seed that repeats it; empty: nothing.
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
