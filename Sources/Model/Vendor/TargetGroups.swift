/// The targets of a message as the calls of an upstream name them: several targets can have one name, for example two devices of one user.
package struct TargetGroups: Sendable, Hashable {
    package struct Group: Sendable, Hashable {
        package var name: String
        /// Their places in the list that was given to `outbound`.
        package var targets: [Int]
    }

    /// In the order of their first targets.
    package private(set) var groups: [Group] = []

    /// - Parameters:
    ///   - targets: the list that was given to `outbound`.
    ///   - name: nil for a target that the upstream cannot address, which then is in no group.
    package init(_ targets: [TargetFacts], name: (TargetFacts) -> String?) {
        var places: [String: Int] = [:]
        for (index, target) in targets.enumerated() {
            guard let name = name(target), !name.isEmpty else { continue }
            if let place = places[name] {
                groups[place].targets.append(index)
            } else {
                places[name] = groups.count
                groups.append(Group(name: name, targets: [index]))
            }
        }
    }

    /// Divides the groups among calls. A group stays whole, so a call exceeds a limit if one group alone does.
    ///
    /// - Parameters:
    ///   - limit: the number of targets per call.
    ///   - room: the bytes per call that are left for its targets.
    ///   - size: the bytes that a group takes.
    /// - Returns: the groups of each call, in order.
    package func calls(targets limit: Int, bytes room: Int = .max, size: (Group) -> Int = { _ in 0 }) -> [[Group]] {
        var calls: [[Group]] = []
        var (count, bytes) = (0, 0)
        for group in groups {
            let own = size(group)
            if calls.isEmpty || count + group.targets.count > limit || own > room - bytes {
                calls.append([])
                (count, bytes) = (0, 0)
            }
            calls[calls.count - 1].append(group)
            count += group.targets.count
            bytes += own
        }
        return calls
    }
}

extension UpstreamCall {
    /// The call to the targets of some groups.
    package init(_ request: VendorRequest, to groups: [TargetGroups.Group]) {
        self.init(
            request,
            targets: groups.flatMap(\.targets),
            names: groups.flatMap { group in group.targets.map { _ in group.name } }
        )
    }
}
