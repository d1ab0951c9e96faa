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

    /// Erases a device. The answer is whether it existed.
    package static func erase(_ device: DeviceID, by actor: AuditActor) -> StoreRequest<Bool> {
        StoreRequest(EraseDevice(device, by: actor)) { $0 }
    }
}
