package import Model
package import Store

/// The rules for devices that the native API names by their ids.
package enum DeviceChangeRules {
    /// Changes all active identities of a device. The answer is the changed device; nil if it does not exist.
    package static func change(_ device: DeviceID, _ change: DevicePatch) -> StoreRequest<DeviceFacts?> {
        var writes: [any StoreOperation] = [PatchIdentities(of: device, change)]
        if let tags = change.tags { writes.append(TagDevice(device, tags)) }
        if change.clock != .unset { writes.append(SetDeviceClock(device, change.clock)) }
        return StoreRequest(FindDevice(device), ListDeviceIdentities(of: device)) { device, identities in
            var device = device
            device?.identities = identities
            return device
        }
        .preceded(by: writes)
    }

    /// Confirms the user of an identity; `user`: the user that it must have. The answer is the identity; nil if it does not exist, is not active or has another user.
    package static func vouch(_ identity: IdentityID, of user: UserID?, by actor: AuditActor) -> StoreRequest<
        IdentityEntry?
    > {
        StoreRequest(VouchIdentity(identity, of: user, by: actor), FindIdentityEntry(identity)) { $0 ? $1 : nil }
    }

    /// Erases a device. The answer is whether it existed.
    package static func erase(_ device: DeviceID, by actor: AuditActor) -> StoreRequest<Bool> {
        StoreRequest(EraseDevice(device, by: actor)) { $0 }
    }
}
