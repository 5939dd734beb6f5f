-- tsnbench's test payload for Wireshark and tshark, installed by `tsnbench wireshark install`.
--
-- Telegrams of TRDP (IEC 61375-2-3, Annex A) are below.
--
-- In UDP, big-endian: "TSN", version 1, stream (32 bits), sequence number (48 bits), and where the frame is
-- long enough the intended time (64 bits, signed, ns; 0 where the talker names none).

local tsnbench = Proto("tsnbench", "tsnbench test payload")

-- The names of a Plan's streams by their numbers: `tsnbench wireshark install --plan` writes them here.
local names = {}

local fields = {
    name = ProtoField.string("tsnbench.name", "Name of the stream, or its number"),
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
    local name = names[stream:uint()] or tostring(stream:uint())
    branch:add(fields.name, stream, name):set_generated()
    branch:add(fields.sequence, sequence, sequence:uint64())
    local info = "stream " .. name .. " sequence " .. tostring(sequence:uint64())
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


local trdp = Proto("tsnbench_trdp", "Train Real-Time Data Protocol")

-- Message types by the two letters that the header has; those of process data of version 2 are numbers.
local TYPES = {
    Pd = "process data", Pp = "pull reply", Pr = "pull request", Pe = "process data error",
    Mn = "notification", Mr = "request", Mp = "reply", Mq = "reply, confirm requested", Mc = "confirm",
    Me = "message data error",
}
local PLAIN = { [1] = "process data (TSN)", [2] = "process data (TSN, SDT)", [3] = "process data (TSN, multi-SDT)" }
local PROCESS, TSN, SHORT_TSN, MESSAGE = 40, 20, 16, 116
local PROCESS_PORT, MESSAGE_PORT = 17224, 17225

local heads = {
    sequence = ProtoField.uint32("tsnbench.trdp.sequence", "Sequence counter"),
    version = ProtoField.uint16("tsnbench.trdp.version", "Protocol version", base.HEX),
    type = ProtoField.string("tsnbench.trdp.type", "Message type"),
    com_id = ProtoField.uint32("tsnbench.trdp.comid", "ComId"),
    etb = ProtoField.uint32("tsnbench.trdp.etbtopocnt", "ETB topology counter"),
    operational = ProtoField.uint32("tsnbench.trdp.optrntopocnt", "Operational topology counter"),
    length = ProtoField.uint32("tsnbench.trdp.length", "Length of the data set"),
    reserved = ProtoField.uint32("tsnbench.trdp.reserved", "Reserved or service id"),
    reply_com_id = ProtoField.uint32("tsnbench.trdp.replycomid", "ComId of the reply"),
    reply_address = ProtoField.ipv4("tsnbench.trdp.replyip", "Address of the reply"),
    status = ProtoField.int32("tsnbench.trdp.replystatus", "Reply status"),
    session = ProtoField.bytes("tsnbench.trdp.session", "Session"),
    time_out = ProtoField.uint32("tsnbench.trdp.replytimeout", "Reply time-out (us)"),
    source = ProtoField.string("tsnbench.trdp.source", "Source URI"),
    destination = ProtoField.string("tsnbench.trdp.destination", "Destination URI"),
    check = ProtoField.uint32("tsnbench.trdp.fcs", "Header check sequence", base.HEX),
    good = ProtoField.bool("tsnbench.trdp.fcs_good", "Header check sequence is right"),
    data = ProtoField.bytes("tsnbench.trdp.data", "Data set"),
}
trdp.fields = heads

local bits = bit or bit32

-- The reflected CRC-32 of the header without its last four octets, as an unsigned number.
local function check_sequence(payload, octets)
    local crc = 0xffffffff
    for place = 0, octets - 1 do
        crc = bits.bxor(crc, payload(place, 1):uint())
        for _ = 1, 8 do
            local odd = bits.band(crc, 1) == 1
            crc = bits.rshift(crc, 1)
            if odd then
                crc = bits.bxor(crc, 0xedb88320)
            end
        end
    end
    return bits.bnot(crc) % 4294967296
end

local function shared(branch, payload, place)
    branch:add(heads.com_id, payload(place, 4))
    branch:add(heads.etb, payload(place + 4, 4))
    branch:add(heads.operational, payload(place + 8, 4))
    branch:add(heads.length, payload(place + 12, 4))
end

local function checked(branch, payload, at)
    branch:add_le(heads.check, payload(at, 4))
    if bits then
        branch:add(heads.good, payload(at, 4), check_sequence(payload, at) == payload(at, 4):le_uint()):set_generated()
    end
end

-- What a telegram is: the length of its header, and its type in words.
local function telegram(payload)
    local there = payload:captured_len()
    if there >= TSN and payload(4, 1):uint() == 2 and PLAIN[payload(5, 1):uint()] then
        -- Without the reserved word the check sequence is four octets earlier.
        local at = SHORT_TSN - 4
        local short = bits and check_sequence(payload, at) == payload(at, 4):le_uint()
        return short and SHORT_TSN or TSN, PLAIN[payload(5, 1):uint()]
    end
    if there < PROCESS or payload(4, 1):uint() ~= 1 then
        return nil
    end
    local letters = payload(6, 2):string()
    local head = letters:sub(1, 1) == "M" and MESSAGE or PROCESS
    if not TYPES[letters] or there < head then
        return nil
    end
    return head, TYPES[letters]
end

function trdp.dissector(payload, packet, tree)
    local head, kind = telegram(payload)
    if not head then
        return 0
    end
    packet.cols.protocol = "TRDP"
    local branch = tree:add(trdp, payload())
    local sequence, place = payload(0, 4), 8
    branch:add(heads.sequence, sequence)
    local version_2 = head < PROCESS
    branch:add(heads.type, payload(version_2 and 5 or 6, version_2 and 1 or 2), kind)
    if version_2 then
        branch:add(heads.version, payload(4, 1))
        branch:add(heads.length, payload(6, 2))
        branch:add(heads.com_id, payload(8, 4))
        if head == TSN then
            branch:add(heads.reserved, payload(12, 4))
        end
    else
        branch:add(heads.version, payload(4, 2))
        shared(branch, payload, place)
    end
    if head == PROCESS then
        branch:add(heads.reserved, payload(24, 4))
        branch:add(heads.reply_com_id, payload(28, 4))
        branch:add(heads.reply_address, payload(32, 4))
    elseif head == MESSAGE then
        branch:add(heads.status, payload(24, 4))
        branch:add(heads.session, payload(28, 16))
        branch:add(heads.time_out, payload(44, 4))
        branch:add(heads.source, payload(48, 32), payload(48, 32):stringz())
        branch:add(heads.destination, payload(80, 32), payload(80, 32):stringz())
    end
    checked(branch, payload, head - 4)
    if payload:captured_len() > head then
        branch:add(heads.data, payload(head))
    end
    packet.cols.info = kind .. " comId " .. payload(place, 4):uint() .. " sequence " .. sequence:uint()
    return payload:captured_len()
end

DissectorTable.get("udp.port"):add(PROCESS_PORT, trdp)
DissectorTable.get("udp.port"):add(MESSAGE_PORT, trdp)
DissectorTable.get("tcp.port"):add(MESSAGE_PORT, trdp)
