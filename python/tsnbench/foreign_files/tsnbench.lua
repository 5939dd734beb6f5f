-- tsnbench's test payload for Wireshark and tshark, installed by `tsnbench wireshark install`.
--
-- In UDP, big-endian: "TSN", version 1, stream (32 bits), sequence number (48 bits), and where the frame is
-- long enough the intended time (64 bits, signed, ns; 0 where the talker names none).

local tsnbench = Proto("tsnbench", "tsnbench test payload")

local fields = {
    version = ProtoField.uint8("tsnbench.version", "Version"),
    stream = ProtoField.uint32("tsnbench.stream", "Stream"),
    sequence = ProtoField.uint64("tsnbench.sequence", "Sequence number"),
    intended = ProtoField.int64("tsnbench.intended", "Intended time (ns)"),
    late = ProtoField.int64("tsnbench.late", "Captured after the intended time (ns)"),
    filler = ProtoField.bytes("tsnbench.filler", "Filler"),
}
tsnbench.fields = fields

local captured_at = Field.new("frame.time_epoch")
local SHORT, LONG = 14, 22

local function is_ours(payload)
    return payload:captured_len() >= SHORT and payload(0, 4):bytes() == ByteArray.new("54534e01")
end

function tsnbench.dissector(payload, packet, tree)
    if not is_ours(payload) then
        return 0
    end
    packet.cols.protocol = "tsnbench"
    local branch = tree:add(tsnbench, payload())
    local stream, sequence = payload(4, 4), payload(8, 6)
    branch:add(fields.version, payload(3, 1))
    branch:add(fields.stream, stream)
    branch:add(fields.sequence, sequence, sequence:uint64())
    local info = "stream " .. stream:uint() .. " sequence " .. tostring(sequence:uint64())
    if payload:captured_len() >= LONG then
        local intended = payload(14, 8)
        branch:add(fields.intended, intended)
        if intended:int64() ~= Int64(0) then
            -- Integers all the way: a Unix time as a float has lost the nanoseconds.
            local at = captured_at().value
            local late = Int64(at.secs) * Int64(1000000000) + Int64(at.nsecs) - intended:int64()
            branch:add(fields.late, intended, late):set_generated()
            info = info .. " intended " .. tostring(intended:int64()) .. " ns, captured " .. tostring(late) .. " ns later"
        end
        if payload:captured_len() > LONG then
            branch:add(fields.filler, payload(LONG))
        end
    end
    packet.cols.info = info
    return payload:captured_len()
end

tsnbench:register_heuristic("udp", function(payload, packet, tree)
    return tsnbench.dissector(payload, packet, tree) > 0
end)
