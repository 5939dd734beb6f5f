"""Scheduled streams: releases and gates that keep their frames apart, or the reasons why there are none."""
