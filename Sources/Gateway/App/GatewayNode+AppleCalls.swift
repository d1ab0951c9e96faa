import APNs
import AppleCalls
import DeliveryEngine
import Model

/// The calls to Apple whose caller waits for the answer.
extension GatewayNode {
    /// Manages broadcast channels through this node's connections.
    var channels: AppleChannels {
        AppleChannels(directory: base.directory) {
            [transport = delivery.transport] (key, environment) throws(APNsError) in
            try transport.channels(of: key, in: environment)
        }
    }

    /// Sends nonces of challenges through this node's connections.
    var possession: PossessionPushes {
        PossessionPushes(directory: base.directory, vendors: base.vendors, identifiers: base.identifiers) {
            [transport = delivery.transport] push, credential in
            for await completions in transport.send([push], through: credential, deadline: PossessionPushes.deadline) {
                if let completion = completions.first { return completion.outcome }
            }
            return .unsent(TransportError(.canceled))
        }
    }
}
